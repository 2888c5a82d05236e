import type { ModelInfo } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { chosenReader, ONLY_STORE, readersOf, takesOneFile } from './file-models.ts'

const file = { type: 'string', format: 'holdfast-file' }
const takes = (schema: object) => takesOneFile({ parameters_schema: schema as Record<string, unknown> })
const model = (name: string, offered: boolean, properties: object = { document: file }) =>
  ({ name, offered, parameters_schema: { type: 'object', properties } }) as unknown as ModelInfo

describe('models that can be handed a file', () => {
  it.each([
    ['one file', { properties: { document: file }, required: ['document'] }, true],
    ['a list of files', { properties: { pages: { type: 'array', items: file } } }, true],
    ['one that may be null', { properties: { document: { anyOf: [file, { type: 'null' }] } } }, true],
    ['by reference', { properties: { d: { $ref: '#/$defs/doc' } }, $defs: { doc: file } }, true],
    ['in a part of the whole', { allOf: [{ properties: { document: file } }] }, true],
    ['with others that have a default', { properties: { d: file, n: { default: 1 } }, required: ['d', 'n'] }, true],
    ['no file', { properties: { n: { type: 'number' } } }, false],
    ['two files', { properties: { a: file, b: file } }, false],
    ['something else is needed too', { properties: { d: file, n: {} }, required: ['d', 'n'] }, false],
    ['nothing', {}, false],
    ['a circle', { properties: { d: { $ref: '#/properties/d' } } }, false],
  ])('%s', (_, schema, expected) => expect(takes(schema)).toBe(expected))

  it('the address chooses, else the first that somebody works on', () => {
    const readers = readersOf([model('b', false), model('plain', true, {}), model('a', false), model('c', true)])
    expect(readers.map(({ name }) => name)).toEqual(['c', 'a', 'b'])
    expect(chosenReader(readers, undefined)?.name).toBe('c')
    expect(chosenReader(readers, 'a')?.name).toBe('a')
    expect(chosenReader(readers, 'gone')?.name).toBe('c')
    expect(chosenReader(readers, ONLY_STORE)).toBeNull()
    expect(chosenReader([], undefined)).toBeNull()
  })
})
