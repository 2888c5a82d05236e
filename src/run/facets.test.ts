import { describe, expect, it } from 'vitest'
import { FACET_VALUES_MAX, facetProblems, foundIn, PLACES_MAX } from './facets.ts'

const FILE = 'a'.repeat(64)
const facetsOf = (result: unknown, facets: Record<string, string>) =>
  (foundIn(JSON.stringify(result), { facets })?.facets ?? []).map(({ name, value }) => `${name}:${value}`)
const placesOf = (result: unknown, places = 'places') => foundIn(JSON.stringify(result), { places })?.places ?? []

describe('facets of a result', () => {
  it('reads texts, numbers and booleans, a dot reaching inside', () => {
    const result = { language: 'fr', statistics: { pages: 12, scanned: false } }
    const facets = { language: 'language', pages: 'statistics.pages', scanned: 'statistics.scanned' }
    expect(facetsOf(result, facets)).toEqual(['language:fr', 'pages:12', 'scanned:false'])
  })

  it('takes the items of every array on the way, each value once', () => {
    const result = { people: [{ mail: ['a@x', 'b@x'] }, { mail: 'a@x' }, 'nobody', [{ mail: 'nested' }]] }
    expect(facetsOf(result, { mail: 'people.mail' })).toEqual(['mail:a@x', 'mail:b@x'])
    expect(facetsOf([{ kind: 'x' }, { kind: 'y' }], { kind: 'kind' })).toEqual(['kind:x', 'kind:y'])
  })

  it('finds a name that holds a dot itself', () => {
    expect(facetsOf({ 'a.b': 1, a: { b: 2 } }, { ab: 'a.b' })).toEqual(['ab:1'])
    expect(facetsOf({ a: { 'b.c': 1 } }, { abc: 'a.b.c' })).toEqual(['abc:1'])
  })

  it.each([
    ['an object', {}],
    ['null', null],
    ['an array in an array', [['x']]],
    ['an empty text', ''],
    ['a text that is too long', 'x'.repeat(201)],
    ['a NUL', 'a\u0000b'],
    ['half a character', '\ud800'],
    ['nothing', undefined],
  ])('leaves out %s', (_, value) => {
    expect(facetsOf({ value }, { value: 'value' })).toEqual([])
  })

  it.each(['text', null, 7, []])('finds nothing in the result %j', (result) => {
    expect(foundIn(JSON.stringify(result), { facets: { a: 'a.b' }, places: 'a' })).toBeNull()
  })

  it('does not read what objects have by themselves', () => {
    expect(facetsOf({}, { a: 'constructor.name', b: '__proto__' })).toEqual([])
  })

  it('shares the limit of values among the facets', () => {
    const many = Array.from({ length: 1_000 }, (_, no) => no)
    const found = facetsOf({ many, few: ['a', 'b'] }, { many: 'many', few: 'few' })
    expect(found).toHaveLength(FACET_VALUES_MAX)
    expect(found.slice(0, 4)).toEqual(['many:0', 'few:a', 'many:1', 'few:b'])
  })

  it('reads no result when the model declares nothing', () => {
    expect(foundIn('no JSON at all', {})).toBeNull()
    expect(foundIn('no JSON at all', { facets: {} })).toBeNull()
  })
})

describe('places of a result', () => {
  it('reads latitude, longitude, label and file', () => {
    const places = [
      { latitude: 48.85, longitude: 2.35, label: 'Paris', file_id: FILE },
      { latitude: -90, longitude: 180 },
    ]
    expect(placesOf({ places })).toEqual([
      { latitude: 48.85, longitude: 2.35, label: 'Paris', fileId: FILE },
      { latitude: -90, longitude: 180, label: null, fileId: null },
    ])
    expect(placesOf({ pages: [{ places }, { places }] }, 'pages.places')).toHaveLength(4)
    expect(placesOf({ places: places[0] })).toHaveLength(1)
  })

  it.each([
    { latitude: 90.001, longitude: 0 },
    { latitude: 0, longitude: -180.5 },
    { latitude: '1', longitude: 2 },
    { latitude: 1 },
    { latitude: null, longitude: null },
    'Paris',
    null,
  ])('leaves out %j', (place) => {
    expect(placesOf({ places: [place] })).toEqual([])
  })

  it('cuts a long label between two characters', () => {
    const [place] = placesOf({ places: [{ latitude: 0, longitude: 0, label: `${'x'.repeat(199)}\u{1f30d}tail` }] })
    expect(place!.label).toBe('x'.repeat(199))
  })

  it('keeps so many and no more', () => {
    const places = Array.from({ length: 2 * PLACES_MAX }, () => ({ latitude: 1, longitude: 2 }))
    expect(placesOf({ places })).toHaveLength(PLACES_MAX)
  })
})

it('a definition says what is wrong with its facets', () => {
  expect(facetProblems(undefined)).toEqual([])
  expect(facetProblems({ language: 'statistics.language' })).toEqual([])
  expect(facetProblems(['language'])).toMatchObject([{ name: null }])
  expect(facetProblems({ Language: 'a', 'a:b': 'a', empty: '', dots: 'a..b', number: 7 })).toMatchObject([
    { name: 'Language' },
    { name: 'a:b' },
    { name: 'empty' },
    { name: 'dots' },
    { name: 'number' },
  ])
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, no) => [`f${no}`, 'a']))
  expect(facetProblems(many)).toMatchObject([{ name: null }])
})
