import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Box, boxOf, type Circle, circleOf, coveringBoxes, EARTH_RADIUS_KM } from './area.ts'

const holds = ({ south, west, north, east }: Box, latitude: number, longitude: number) =>
  latitude >= south && latitude <= north && longitude >= west && longitude <= east

/** By the spherical law of cosines, which is another way than the haversine of the statements. */
function kmBetween({ latitude, longitude }: Circle, other: { latitude: number; longitude: number }): number {
  const [a, b] = [latitude, other.latitude].map((degrees) => (degrees * Math.PI) / 180) as [number, number]
  const turn = ((longitude - other.longitude) * Math.PI) / 180
  const cosine = Math.sin(a) * Math.sin(b) + Math.cos(a) * Math.cos(b) * Math.cos(turn)
  return EARTH_RADIUS_KM * Math.acos(Math.min(1, Math.max(-1, cosine)))
}

describe('areas as text', () => {
  it.each(['48.8,2.2,48.9,2.5', '-90,-180,90,180', '10, 170, 20, -170'])('a box: %s', (text) => {
    expect(boxOf(text)).toEqual(
      Object.fromEntries(['south', 'west', 'north', 'east'].map((name, no) => [name, Number(text.split(',')[no])])),
    )
  })

  it.each([
    '',
    '1,2,3',
    '1,2,3,4,5',
    '5,0,4,1',
    '-91,0,0,1',
    '0,0,1,181',
    'a,b,c,d',
    '1e1,0,20,1',
    'NaN,0,1,1',
    '1,,2,3',
  ])('no box: %s', (text) => expect(boxOf(text)).toBeNull())

  it('a circle', () => {
    expect(circleOf('48.85,2.35,10')).toEqual({ latitude: 48.85, longitude: 2.35, km: 10 })
  })

  it.each(['', '1,2', '1,2,0', '1,2,-5', '1,2,20041', '91,0,1', '0,181,1', '1,2,Infinity', '1,2,3,4'])(
    'no circle: %s',
    (text) => expect(circleOf(text)).toBeNull(),
  )
})

describe('the rectangles that cover an area', () => {
  it('of a box are itself, or two where it crosses 180 degrees', () => {
    const box = { south: -10, west: 170, north: 10, east: -170 }
    expect(coveringBoxes({ box: { ...box, east: 175 } })).toEqual([{ ...box, east: 175 }])
    expect(coveringBoxes({ box })).toEqual([
      { ...box, east: 180 },
      { ...box, west: -180 },
    ])
  })

  it.each([
    ['holds the north pole', { latitude: 89, longitude: 0, km: 200 }],
    ['holds the south pole', { latitude: -90, longitude: 55, km: 1 }],
  ])('of a circle that %s hold every longitude', (_, circle) => {
    expect(coveringBoxes({ circle })).toMatchObject([{ west: -180, east: 180 }])
  })

  it('of a circle hold every place that near, anywhere on earth', () => {
    const latitude = fc.double({ min: -90, max: 90, noNaN: true })
    const longitude = fc.double({ min: -180, max: 180, noNaN: true })
    const km = fc.oneof(fc.double({ min: 0.1, max: 50, noNaN: true }), fc.double({ min: 50, max: 20_040, noNaN: true }))
    // Another place around the first one, mostly within reach.
    const offset = fc.double({ min: -1, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.record({ latitude, longitude, km }), offset, offset, (circle, up, aside) => {
        const reach = circle.km / 111
        const other = {
          latitude: Math.max(-90, Math.min(90, circle.latitude + up * reach)),
          longitude: ((circle.longitude + aside * reach * 3 + 540) % 360) - 180,
        }
        fc.pre(Math.abs(other.longitude) <= 180 && kmBetween(circle, other) <= circle.km)
        const boxes = coveringBoxes({ circle })
        expect(boxes.some((box) => holds(box, other.latitude, other.longitude))).toBe(true)
      }),
    )
  })
})
