/**
 * Places on the earth: decimal pairs, decimal degrees with N, S, E, W, and degrees, minutes and seconds. Only latitudes up to
 * 90 and longitudes up to 180 degrees count. Every pattern is bounded, so the time is linear.
 */

export type Place = { latitude: number; longitude: number; label: string }

const GAP = '[,;/ \\t\\u00a0]{1,3}'
const SECONDS = "(?:[ ]?(\\d{1,2}(?:[.,]\\d{1,6})?)[ ]?(?:″|\"|”|''|′′))?"
const ANGLE = `(\\d{1,3})[ ]?°[ ]?(\\d{1,2}(?:[.,]\\d{1,6})?)[ ]?[′'’]${SECONDS}[ ]?`
const IN_PARTS = new RegExp(`(?<![\\d.,])${ANGLE}([NS])${GAP}${ANGLE}([EWO])(?!\\p{L})`, 'gu')
const DEGREES = '(\\d{1,3}(?:\\.\\d{1,10})?)[ ]?(°?)[ ]?'
const WITH_LETTERS = new RegExp(`(?<![\\d.,])${DEGREES}([NS])${GAP}${DEGREES}([EWO])(?!\\p{L})`, 'gu')
const SIGNED = '([-−]?\\d{1,3}\\.\\d{4,10})[ ]?°?'
const PLAIN = new RegExp(`(?<![\\d.,−-])${SIGNED}[ ]?[,;][ ]{0,2}${SIGNED}(?![\\d.,]\\d|\\d)`, 'gu')
/** O is Ouest, Oeste and Ovest, but Ost. */
const O_IS_EAST = ['de', 'nl', 'da', 'nb', 'sv']
const LABEL_CHARACTERS_MAX = 60

/** In the order they appear, each place once. */
export function findCoordinates(text: string, language: string | null, countMax: number): Place[] {
  const isEast = (letter: string) => letter === 'E' || (letter === 'O' && O_IS_EAST.includes(language ?? ''))
  const candidates: { at: number; label: string; latitude: number; longitude: number }[] = []
  for (const { 0: label, index, ...part } of text.matchAll(IN_PARTS)) {
    const latitude = angle(part[1], part[2], part[3]) * (part[4] === 'N' ? 1 : -1)
    const longitude = angle(part[5], part[6], part[7]) * (isEast(part[8]!) ? 1 : -1)
    candidates.push({ at: index, label, latitude, longitude })
  }
  for (const { 0: label, index, ...part } of text.matchAll(WITH_LETTERS)) {
    // Without a degree sign or decimals it is as likely a house number.
    if (!part[2] && !part[1]!.includes('.')) continue
    const latitude = Number(part[1]) * (part[3] === 'N' ? 1 : -1)
    const longitude = Number(part[4]) * (isEast(part[6]!) ? 1 : -1)
    candidates.push({ at: index, label, latitude, longitude })
  }
  for (const { 0: label, 1: latitude, 2: longitude, index } of text.matchAll(PLAIN)) {
    candidates.push({ at: index, label, latitude: signed(latitude!), longitude: signed(longitude!) })
  }
  const found = new Map<string, Place>()
  for (const { label, ...candidate } of candidates.sort((a, b) => a.at - b.at)) {
    const [latitude, longitude] = [rounded(candidate.latitude), rounded(candidate.longitude)]
    if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) continue
    const key = `${latitude} ${longitude}`
    if (!found.has(key)) found.set(key, { latitude, longitude, label: label.trim().slice(0, LABEL_CHARACTERS_MAX) })
    if (found.size >= countMax) break
  }
  return [...found.values()]
}

/** Minutes and seconds of 60 and more are no angle. */
function angle(degrees = '0', minutes = '0', seconds = '0'): number {
  const [m, s] = [Number(minutes.replace(',', '.')), Number(seconds.replace(',', '.'))]
  return m < 60 && s < 60 ? Number(degrees) + m / 60 + s / 3600 : Number.NaN
}

function signed(number: string): number {
  return Number(number.replace('−', '-'))
}

/** Six decimals are a tenth of a metre. Adding zero turns -0 into 0. */
function rounded(degrees: number): number {
  return Number(degrees.toFixed(6)) + 0
}
