import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../test/support/temp-folder.ts'
import { putInPlace, removeAbandoned } from './put-in-place.ts'

async function openFolder() {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const draft = async (name: string) => {
    const path = join(folder.path, `.dist-${name}`)
    await mkdir(path)
    await writeFile(join(path, 'index.html'), name)
    return path
  }
  const place = join(folder.path, 'dist')
  return { path: folder.path, place, draft, page: () => readFile(join(place, 'index.html'), 'utf8') }
}

it('the first one takes the place, and the second that of the first', async () => {
  const { path, place, draft, page } = await openFolder()
  for (const name of ['first', 'second']) {
    await putInPlace(await draft(name), place)
    expect(await page()).toBe(name)
    expect(await readdir(path)).toEqual(['dist'])
  }
})

it('of many at once every one is whole, and nothing is left but one', async () => {
  const { path, place, draft, page } = await openFolder()
  const names = ['a', 'b', 'c', 'd']
  const drafts = await Promise.all(names.map(draft))
  const ends = await Promise.allSettled(drafts.map((one) => putInPlace(one, place)))
  expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
  expect(names).toContain(await page())
  expect((await readdir(path)).filter((name) => name.endsWith('.old'))).toEqual([])
})

it('what others have left is removed when it is old', async () => {
  const { path, draft } = await openFolder()
  await draft('killed')
  await removeAbandoned(path)
  expect(await readdir(path)).toEqual(['.dist-killed'])
  await removeAbandoned(path, Date.now() + 3_600_000)
  expect(await readdir(path)).toEqual([])
})
