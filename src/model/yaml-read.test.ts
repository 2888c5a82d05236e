import { describe, expect, test } from 'vitest'
import { readYaml } from './yaml-read.ts'

const read = (text: string) => readYaml(new TextEncoder().encode(text))

test('values are those of YAML 1.2, and remember where they are', () => {
  const file = read('a: [1, 2.5, true, null, "no"]\nb:\n  c: text with words\n')
  expect(file.problems).toEqual([])
  expect(file.value).toEqual({ a: [1, 2.5, true, null, 'no'], b: { c: 'text with words' } })
  expect(file.placeOf('/b/c')).toEqual({ line: 3, column: 6 })
  expect(file.placeOf('/b/c', true)).toEqual({ line: 3, column: 3 })
  expect(file.placeOf('/a/4')).toEqual({ line: 1, column: 25 })
})

test('a missing place is told where it should be', () => {
  expect(read('a:\n  b: 1\n').placeOf('/a/missing')).toEqual({ line: 1, column: 1 })
})

test('what is no text keeps how it was written', () => {
  expect(read('v: 1.10\n').sourceOf('/v')).toBe('1.10')
})

test('names are always text, whatever they look like', () => {
  expect(read('1: a\ntrue: b\nno: c\n').value).toEqual({ 1: 'a', true: 'b', no: 'c' })
})

describe('what can be understood in two ways, or is not needed, is refused at its place', () => {
  test.each<[string, string, number, number, RegExp]>([
    ['a name twice', 'a: 1\nb: 2\na: 3\n', 3, 1, /twice/],
    ['a word for false', 'a: no\n', 1, 4, /true or false/],
    ['a word for true in capitals', 'a: [YES]\n', 1, 5, /true or false/],
    ['an octal number', 'a: 1\nb: 012\n', 2, 4, /octal/],
    ['a number with underscores', 'a: 1_000\n', 1, 4, /leave the _ out/],
    ['a number of minutes', 'a: 12:30\n', 1, 4, /seconds/],
    ['an infinite number', 'a: .inf\n', 1, 4, /JSON/],
    ['a number too large to be exact', 'a: 9007199254740993\n', 1, 4, /exactly/],
    ['an anchor', 'a: &x 1\n', 1, 7, /anchors/],
    ['an alias', 'a: *x\n', 1, 4, /alias/],
    ['a merge key', '<<: {a: 1}\n', 1, 1, /merge/],
    ['a tag', 'a: !!binary aGk=\n', 1, 13, /tags/],
    ['a tag of its own', 'a: !python/object x\n', 1, 4, /tag/],
    ['a name that changes objects', 'a: 1\n__proto__: {b: 1}\n', 2, 1, /cannot be used/],
    ['a list as a name', '? [a]\n: 1\n', 1, 3, /must be text/],
    ['a second document', 'a: 1\n---\nb: 1\n', 2, 1, /second document/],
    ['an older version of YAML', '%YAML 1.1\n---\na: 1\n', 1, 1, /%YAML/],
    ['tabs', 'a:\n\tb: 1\n', 2, 1, /[tT]ab/],
    ['a NUL', 'a: "\\0"\n', 1, 4, /NUL/],
    ['half a character', 'a: "\\uD800"\n', 1, 4, /half/],
    ['nothing', '# only a comment\n', 1, 1, /empty/],
  ])('%s', (_what, text, line, column, detail) => {
    const [problem] = read(text).problems
    expect(problem).toMatchObject({ line, column })
    expect(problem?.detail).toMatch(detail)
  })

  test('a bomb of aliases is refused without being unfolded', () => {
    const levels = Array.from({ length: 30 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}*l${n}]`)
    const file = read(['l0: &l0 [x]', ...levels].join('\n'))
    expect(file.problems.length).toBeGreaterThan(0)
    expect(file.problems.length).toBeLessThan(1_000)
  })

  test.each([
    ['lists', '['.repeat(50_000)],
    ['dashes', '- '.repeat(50_000)],
  ])('%s nested without end', (_what, text) => {
    expect(read(text).problems[0]?.line).toBe(1)
  })

  test('levels that JSON would refuse', () => {
    expect(read(`${'['.repeat(80)}${']'.repeat(80)}`).problems[0]?.detail).toMatch(/64 levels/)
  })

  test('a large file', () => {
    expect(readYaml(new Uint8Array(1_048_577)).problems[0]?.detail).toMatch(/larger/)
  })

  test('bytes that are no UTF-8', () => {
    expect(readYaml(new Uint8Array([0x61, 0x3a, 0x20, 0xff])).problems[0]?.detail).toMatch(/UTF-8/)
  })
})
