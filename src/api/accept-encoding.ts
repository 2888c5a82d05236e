/** Which of the encodings we have a caller wants, by its Accept-Encoding header (RFC 9110, section 12.5.3). */

export type Encoding = 'br' | 'gzip' | 'identity'

/** The first of `offered`, in our order, among those the caller likes best. Plain bytes when it likes none: they can always be read. */
export function chooseEncoding(header: string | undefined, offered: readonly Encoding[]): Encoding {
  const wanted = weightsOf(header ?? '')
  let best: Encoding = 'identity'
  let bestWeight = 0
  for (const encoding of offered) {
    const weight = weightOf(encoding, wanted)
    if (weight > bestWeight) [best, bestWeight] = [encoding, weight]
  }
  return best
}

function weightOf(encoding: Encoding, wanted: Map<string, number>): number {
  const named = wanted.get(encoding) ?? (encoding === 'gzip' ? wanted.get('x-gzip') : undefined)
  if (named !== undefined) return named
  // Plain bytes are acceptable without being named, and liked less than anything that is.
  const any = wanted.get('*')
  return encoding === 'identity' ? (any ?? 0.0001) : (any ?? 0)
}

function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1'
    if (name !== '') weights.set(name, Number.parseFloat(weight) || 0)
  }
  return weights
}
