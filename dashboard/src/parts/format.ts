/** Numbers, sizes, durations and times in words. Pure: what depends on now is given now. */

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function formatNumber(value: number): string {
  return NUMBER.format(value)
}

/** `12.3K`: for charts and badges, where the digits would not fit. */
export function formatCompact(value: number): string {
  return COMPACT.format(value)
}

/** A count that stopped counting: `1,000+`. */
export function formatCount(value: number, isCapped: boolean | null = false): string {
  return isCapped ? `${NUMBER.format(value)}+` : NUMBER.format(value)
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = -1
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024
    unit += 1
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

/** `120 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  if (seconds < 0) return formatDuration(0)
  if (seconds < 0.9995) return `${Math.round(seconds * 1_000)} ms`
  if (seconds < 59.95) return `${seconds < 9.95 ? seconds.toFixed(1).replace(/\.0$/, '') : Math.round(seconds)} s`
  const whole = Math.round(seconds)
  if (whole < 3_600) return parts(whole, 60, 'min', 's')
  if (whole < 86_400) return parts(Math.round(whole / 60), 60, 'h', 'min')
  return parts(Math.round(whole / 3_600), 24, 'd', 'h')
}

function parts(value: number, size: number, large: string, small: string): string {
  const rest = value % size
  return rest === 0 ? `${Math.floor(value / size)} ${large}` : `${Math.floor(value / size)} ${large} ${rest} ${small}`
}

/** `just now`, `5 min ago`, `in 2 h`. */
export function formatAgo(at: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(at)) / 1_000
  if (Math.abs(seconds) < 5) return 'just now'
  const words = oneUnit(Math.abs(seconds))
  return seconds > 0 ? `${words} ago` : `in ${words}`
}

function oneUnit(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** With the date, to the second, and the zone it is told in. */
export function formatMoment(at: string, timeZone?: string): string {
  return momentFormat(timeZone).format(new Date(at))
}

const momentFormats = new Map<string | undefined, Intl.DateTimeFormat>()

/** Making one takes longer than using it, and lists use it for every row. */
function momentFormat(timeZone: string | undefined): Intl.DateTimeFormat {
  const known = momentFormats.get(timeZone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'long',
    ...(timeZone && { timeZone }),
  })
  momentFormats.set(timeZone, made)
  return made
}

/** Seconds between two moments. */
export function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1_000
}
