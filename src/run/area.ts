/**
 * Areas on the map, as filters name them: a box by its edges, or all that is near a point. The earth is taken as a ball, which is right to half
 * a percent.
 *
 * An area is searched through one or two rectangles of degrees that cover it: two where it crosses the meridian of 180 degrees. A circle that
 * holds a pole covers every longitude up to it.
 */

export type Box = { south: number; west: number; north: number; east: number }
export type Circle = { latitude: number; longitude: number; km: number }
export type Area = { box: Box } | { circle: Circle }

export const EARTH_RADIUS_KM = 6371.0088
/** Half way around the earth: everything is nearer. */
export const NEAR_KM_MAX = 20_040

export const BOX_WANTED =
  'must be south,west,north,east in degrees, such as 48.8,2.2,48.9,2.5, south at most north; west above east crosses 180'
export const NEAR_WANTED = `must be latitude,longitude,km, such as 48.85,2.35,10, km above 0 and at most ${NEAR_KM_MAX}`

/** Degrees: a rectangle may be too large, never too small. */
const ROUNDING = 1e-9

const DECIMAL = /^-?\d{1,5}(?:\.\d{1,20})?$/

/** Null for what is none. */
export function boxOf(text: string): Box | null {
  const numbers = numbersOf(text)
  if (numbers?.length !== 4) return null
  const [south, west, north, east] = numbers as [number, number, number, number]
  const isOnEarth = [south, north].every(isLatitude) && [west, east].every(isLongitude)
  return isOnEarth && south <= north ? { south, west, north, east } : null
}

export function circleOf(text: string): Circle | null {
  const numbers = numbersOf(text)
  if (numbers?.length !== 3) return null
  const [latitude, longitude, km] = numbers as [number, number, number]
  return isLatitude(latitude) && isLongitude(longitude) && km > 0 && km <= NEAR_KM_MAX
    ? { latitude, longitude, km }
    : null
}

/** Rectangles whose west is never above their east and that hold the whole area. */
export function coveringBoxes(area: Area): Box[] {
  return acrossTheDateLine('box' in area ? area.box : boxAround(area.circle))
}

function boxAround({ latitude, longitude, km }: Circle): Box {
  const angle = km / EARTH_RADIUS_KM
  const degrees = toDegrees(angle) + ROUNDING
  const south = Math.max(-90, latitude - degrees)
  const north = Math.min(90, latitude + degrees)
  // At a pole all meridians meet.
  if (south === -90 || north === 90) return { south, west: -180, north, east: 180 }
  const reach = toDegrees(Math.asin(Math.min(1, Math.sin(angle) / Math.cos(toRadians(latitude))))) + ROUNDING
  return { south, west: around(longitude - reach), north, east: around(longitude + reach) }
}

function acrossTheDateLine(box: Box): Box[] {
  if (box.west <= box.east) return [box]
  return [
    { ...box, east: 180 },
    { ...box, west: -180 },
  ]
}

function around(longitude: number): number {
  if (longitude > 180) return longitude - 360
  return longitude < -180 ? longitude + 360 : longitude
}

function numbersOf(text: string): number[] | null {
  const parts = text.split(',').map((part) => part.trim())
  return parts.every((part) => DECIMAL.test(part)) ? parts.map(Number) : null
}

const isLatitude = (degrees: number) => Math.abs(degrees) <= 90
const isLongitude = (degrees: number) => Math.abs(degrees) <= 180
const toDegrees = (angle: number) => (angle * 180) / Math.PI
const toRadians = (degrees: number) => (degrees * Math.PI) / 180
