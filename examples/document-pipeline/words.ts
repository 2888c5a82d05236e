/**
 * Cuts text into words and sentences, in linear time. Scripts that write without spaces are cut by the dictionaries of the
 * platform.
 */

/** Text cut at once by the platform: its iterators keep the whole input alive and slow down with its length. */
const PIECE_CHARACTERS = 4096
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}_]*(?:['’‐-][\p{L}\p{M}\p{N}_]+)*/gu
const WITHOUT_SPACES = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
/** More than any word has; a longer one is no word, and is cut. */
const WORD_CHARACTERS_MAX = 64
const END = /[.!?…。！？]/

const words = new Intl.Segmenter('en', { granularity: 'word' })
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

export function wordsOf(text: string): string[] {
  const found: string[] = []
  for (const line of piecesOf(text)) {
    if (!WITHOUT_SPACES.test(line)) {
      for (const [word] of line.matchAll(WORD)) found.push(word.slice(0, WORD_CHARACTERS_MAX))
      continue
    }
    for (const { segment, isWordLike } of words.segment(line)) {
      if (isWordLike) found.push(segment.slice(0, WORD_CHARACTERS_MAX))
    }
  }
  return found
}

/** At most `countMax`. A line of its own, such as a heading, is a sentence of its own; cells of a table are parts of one. */
export function sentencesOf(text: string, countMax = Number.POSITIVE_INFINITY): string[] {
  const found: string[] = []
  for (const line of piecesOf(text)) {
    if (found.length >= countMax) break
    const inner = line.trim()
    if (!/[\p{L}\p{N}]/u.test(inner)) continue
    if (!END.test(inner.slice(0, -1))) found.push(inner)
    else {
      for (const { segment } of sentences.segment(inner)) {
        const sentence = segment.trim()
        if (sentence !== '' && found.length < countMax) found.push(sentence)
      }
    }
  }
  return found
}

/** Lines, and long lines in pieces cut at a space where there is one. */
function* piecesOf(text: string): Generator<string> {
  let at = 0
  while (at < text.length) {
    const lineEnd = text.indexOf('\n', at)
    const end = lineEnd === -1 ? text.length : lineEnd
    while (end - at > PIECE_CHARACTERS) {
      const space = text.lastIndexOf(' ', at + PIECE_CHARACTERS)
      const cut = space > at + PIECE_CHARACTERS / 2 ? space : at + PIECE_CHARACTERS
      yield text.slice(at, cut)
      at = cut
    }
    yield text.slice(at, end)
    at = end + 1
  }
}
