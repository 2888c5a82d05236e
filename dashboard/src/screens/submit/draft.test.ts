import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draftOf, dropText, editText, editValue, textOf } from './draft.ts'
import { HIDDEN } from './secrets.ts'
import { getAt, isSameJson } from './value-path.ts'

test('editing the form changes the text, editing the text changes the value', () => {
  const first = editValue(draftOf({}), ['region'], 'AU')
  expect(textOf(first)).toBe('{\n  "region": "AU"\n}')
  const second = editText(first, '{"region":"NZ",  "more": [1]}')
  expect(second.value).toEqual({ region: 'NZ', more: [1] })
  expect(textOf(second), 'as it was typed').toBe('{"region":"NZ",  "more": [1]}')
  const third = editValue(second, ['more', 0], 2)
  expect(JSON.parse(textOf(third))).toEqual({ region: 'NZ', more: [2] })
})

test('a text that is not JSON is kept, the value too, and it can be dropped', () => {
  const broken = editText(draftOf({ a: 1 }), '{"a": 2,')
  expect(broken).toMatchObject({ value: { a: 1 }, text: '{"a": 2,' })
  expect(broken.trouble).toBeTruthy()
  expect(textOf(dropText(broken))).toBe('{\n  "a": 1\n}')
  expect(editText(broken, '{"a": 2}')).toMatchObject({ value: { a: 2 }, trouble: null })
})

test.each(['[]', 'null', '"x"', '{"id": 12345678901234567891}', '{"id": 1e999}'])('%s is told, not taken', (text) => {
  const edited = editText(draftOf({ a: 1 }), text)
  expect(edited.value).toEqual({ a: 1 })
  expect(edited.trouble).toBeTruthy()
})

test('hidden secrets are shown as dots, and dots that are left alone keep the secret', () => {
  const draft = draftOf({ api_key: 's3cret', name: 'x' })
  const shown = textOf(draft, false)
  expect(shown).not.toContain('s3cret')
  expect(editText(draft, shown.replace('"x"', '"y"')).value).toEqual({ api_key: 's3cret', name: 'y' })
  expect(editText(draft, '{"api_key": "other"}').value).toEqual({ api_key: 'other' })
  expect(editText(draft, `{"other_key": "${HIDDEN} 7"}`).trouble).toBeTruthy()
})

test('secrets stay with their items while the text is edited step by step', () => {
  const draft = draftOf({ hooks: [{ token: 'a' }, { token: 'b' }, { token: 'c' }] })
  const all = JSON.parse(textOf(draft, false)) as { hooks: unknown[] }
  const first = editText(draft, JSON.stringify({ hooks: all.hooks.slice(1) }))
  expect(first.value).toEqual({ hooks: [{ token: 'b' }, { token: 'c' }] })
  const second = editText(first, JSON.stringify({ hooks: [all.hooks[2]] }))
  expect(second.value).toEqual({ hooks: [{ token: 'c' }] })
})

test('whatever the form does, the text says the same', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue())
  const path = fc.array(fc.oneof(fc.string(), fc.nat(3)), { minLength: 1, maxLength: 3 })
  const edit = fc.tuple(path, fc.option(fc.jsonValue(), { nil: undefined }))
  fc.assert(
    fc.property(object, fc.array(edit, { maxLength: 5 }), (value, edits) => {
      const start = editText(draftOf({}), JSON.stringify(value))
      const end = edits.reduce((draft, [at, next]) => editValue(draft, [`${at[0]}`, ...at.slice(1)], next), start)
      expect(isSameJson(JSON.parse(textOf(end)), end.value)).toBe(true)
      expect(isSameJson(editText(end, textOf(end)).value, end.value)).toBe(true)
      expect(isSameJson(editText(end, textOf(end, false)).value, end.value), 'with secrets hidden').toBe(true)
      const last = edits.at(-1)
      if (last?.[1] === undefined) return
      const at = [`${last[0][0]}`, ...last[0].slice(1)]
      if (at.every((step) => typeof step === 'string')) expect(isSameJson(getAt(end.value, at), last[1])).toBe(true)
    }),
  )
})
