/** What an attempt says of its progress, which may be any JSON: a part of one where it is a fraction, and in words. */

export type Progress = { fraction: number | null; words: string }

const WORDS_LENGTH_MAX = 300

export function progressOf(progress: unknown): Progress | null {
  if (progress === null || progress === undefined) return null
  if (typeof progress === 'number') {
    const isPart = progress >= 0 && progress <= 1
    return { fraction: isPart ? progress : null, words: isPart ? percent(progress) : String(progress) }
  }
  if (typeof progress === 'string') return { fraction: null, words: short(progress) }
  if (typeof progress !== 'object' || Array.isArray(progress)) {
    return { fraction: null, words: short(JSON.stringify(progress)) }
  }
  return ofObject(progress as Record<string, unknown>)
}

/** `{done: 3, of: 4}`, `{epoch: 3, of: 4}`, `{done: 3, total: 4}`, `{percent: 75}`, `{fraction: 0.75}`. */
function ofObject(progress: Record<string, unknown>): Progress {
  const { percent: hundredths, fraction } = progress
  const rest = others(progress)
  if (typeof fraction === 'number' && isPart(fraction)) return { fraction, words: joined(percent(fraction), rest) }
  if (typeof hundredths === 'number' && isPart(hundredths / 100)) {
    return { fraction: hundredths / 100, words: joined(percent(hundredths / 100), rest) }
  }
  const of = progress.of ?? progress.total
  const [name, done] =
    Object.entries(progress).find(([key, value]) => key !== 'of' && key !== 'total' && typeof value === 'number') ?? []
  if (typeof of === 'number' && of > 0 && typeof done === 'number' && isPart(done / of)) {
    const words = `${name === 'done' ? '' : `${name} `}${done} of ${of}`
    return { fraction: done / of, words: joined(words, rest) }
  }
  return { fraction: null, words: short(JSON.stringify(progress)) }
}

/** A message beside the numbers. */
function others(progress: Record<string, unknown>): string {
  return Object.values(progress)
    .filter((value) => typeof value === 'string')
    .join(', ')
}

function joined(words: string, rest: string): string {
  return short(rest ? `${words} · ${rest}` : words)
}

function isPart(value: number): boolean {
  return value >= 0 && value <= 1
}

function percent(fraction: number): string {
  return `${Math.round(fraction * 100)} %`
}

function short(text: string): string {
  return text.length > WORDS_LENGTH_MAX ? `${text.slice(0, WORDS_LENGTH_MAX)}…` : text
}
