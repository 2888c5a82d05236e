import { describe, expect, it } from 'vitest'
import { groupDrop, nameIn } from './group-drop.ts'

const AT = new Date(2026, 10, 16)
const of = (...paths: string[]) =>
  groupDrop(
    paths.map((path) => ({ path, file: { size: 10 } })),
    AT,
  )

describe('a drop', () => {
  it('is in the order of its paths, as people count', () => {
    expect(of('b/10.pdf', 'b/9.pdf', 'a.pdf').files.map(({ path }) => path)).toEqual(['a.pdf', 'b/9.pdf', 'b/10.pdf'])
    expect(of('b', 'a')).toMatchObject({ bytes: 20, passedOver: 0 })
  })

  it('leaves out what the system made, and tells how many', () => {
    const { files, passedOver } = of('x/.DS_Store', 'x/Thumbs.db', '.git/config', 'x/a.pdf', 'x/.hidden/b.pdf')
    expect([files.map(({ path }) => path), passedOver]).toEqual([['x/a.pdf'], 4])
  })

  it('has a path once, but two files of a name when they were picked from two folders', () => {
    expect(of('x/a.pdf', 'x/a.pdf').files).toHaveLength(1)
    expect(of('a.pdf', 'a.pdf').files).toHaveLength(2)
  })

  it.each([
    [['a.pdf', 'b.pdf'], '2 files, 16 Nov'],
    [['invoices/a.pdf', 'invoices/may/b.pdf'], 'invoices: 2 files, 16 Nov'],
    [['invoices/a.pdf', 'letters/b.pdf'], '2 files, 16 Nov'],
    [['/invoices/a.pdf'], 'a.pdf, 16 Nov'],
    [Array.from({ length: 1_200 }, (_, index) => `${index}`), '1,200 files, 16 Nov'],
    [[], '0 files, 16 Nov'],
  ])('its title', (paths, title) => expect(of(...paths).title).toBe(title))

  it('a title is not longer than the service takes', () => {
    const { title } = of(`${'x'.repeat(300)}.pdf`)
    expect([title.length, title.endsWith('.pdf, 16 Nov')]).toEqual([200, true])
    expect(nameIn('a/b/c.pdf')).toBe('c.pdf')
  })
})
