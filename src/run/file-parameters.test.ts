/** Which parameters of a model are files. */

import { describe, expect, test } from 'vitest'
import { fileParametersOf, filesAmong, takesFiles } from './file-parameters.ts'

const ID = 'a'.repeat(64)
const OTHER = '0123456789abcdef'.repeat(4)
const file = { type: 'string', format: 'holdfast-file', pattern: '^[0-9a-f]{64}$' }
const schemaOf = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

describe('the file parameters of a schema', () => {
  test('are its properties of the format, and lists of such', () => {
    const schema = schemaOf({ n: { type: 'integer' }, document: file, pages: { type: 'array', items: file } })
    expect(fileParametersOf(schema)).toEqual([
      { name: 'document', isList: false },
      { name: 'pages', isList: true },
    ])
    expect(takesFiles({ parametersSchema: schema })).toBe(true)
  })

  test('are found where a value may also be null, and behind references', () => {
    const schema = schemaOf(
      {
        a: { anyOf: [file, { type: 'null' }] },
        b: { oneOf: [{ type: 'array', items: { $ref: '#/$defs/a~1b' } }, { type: 'null' }] },
        c: { $ref: '#/$defs/a~1b' },
      },
      { $defs: { 'a/b': file } },
    )
    expect(fileParametersOf(schema)).toEqual([
      { name: 'a', isList: false },
      { name: 'b', isList: true },
      { name: 'c', isList: false },
    ])
  })

  test('are none for other formats, deeper places and schemas that lead in circles', () => {
    expect(fileParametersOf(schemaOf({ a: { type: 'string', format: 'uuid' } }))).toEqual([])
    expect(fileParametersOf(schemaOf({ a: schemaOf({ b: file }) }))).toEqual([])
    expect(fileParametersOf(schemaOf({ a: { $ref: '#/properties/a' }, b: { $ref: '#/nowhere' } }))).toEqual([])
    expect(takesFiles({ parametersSchema: {} })).toBe(false)
  })

  test('are worked out once', () => {
    const schema = schemaOf({ document: file })
    expect(fileParametersOf(schema)).toBe(fileParametersOf(schema))
  })
})

describe('the files among parameters', () => {
  const schema = schemaOf({ 'a/b': file, pages: { type: 'array', items: file }, note: { type: 'string' } })

  test('are named by pointers, by name and in the order of lists', () => {
    expect(filesAmong({ pages: [OTHER, ID], note: ID, 'a/b': ID }, schema)).toEqual([
      { parameter: '/a~1b', fileId: ID },
      { parameter: '/pages/0', fileId: OTHER },
      { parameter: '/pages/1', fileId: ID },
    ])
  })

  test('are none where nothing is given or the value is no id', () => {
    expect(filesAmong({}, schema)).toEqual([])
    expect(filesAmong({ 'a/b': null, pages: null }, schema)).toEqual([])
    expect(filesAmong({ 'a/b': 'x', pages: [7, ID.toUpperCase()] }, schema)).toEqual([])
    expect(filesAmong(null, schema)).toEqual([])
  })
})
