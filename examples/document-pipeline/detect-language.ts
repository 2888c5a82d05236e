/**
 * The language of a text: trigram statistics (franc) weighed with the common words found in it, which decide short texts. Null
 * when there is too little text, or when nothing fits well.
 */

import { STOP_WORD_LANGUAGES, stopWordsOf } from './stop-words.ts'
import { wordsOf } from './words.ts'

export type DetectedLanguage = { language: string | null; confidence: number }

const SAMPLE_CHARACTERS = 6000
const LETTERS_MIN = 12
const WORDS_ENOUGH = 20
/** What a hint weighs, of a total of 2: it settles a doubt and no more. */
const HINT_WEIGHT = 0.05

/** franc names languages by three letters. Those that are not here are found by accident more often than not. */
const TWO_LETTERS: Record<string, string> = {
  arb: 'ar',
  bul: 'bg',
  ces: 'cs',
  cmn: 'zh',
  dan: 'da',
  deu: 'de',
  ell: 'el',
  eng: 'en',
  fas: 'fa',
  pes: 'fa',
  fin: 'fi',
  fra: 'fr',
  heb: 'he',
  hin: 'hi',
  hrv: 'hr',
  hun: 'hu',
  ind: 'id',
  ita: 'it',
  jpn: 'ja',
  kor: 'ko',
  nld: 'nl',
  nob: 'nb',
  pol: 'pl',
  por: 'pt',
  ron: 'ro',
  rus: 'ru',
  slk: 'sk',
  spa: 'es',
  srp: 'sr',
  swe: 'sv',
  tha: 'th',
  tur: 'tr',
  ukr: 'uk',
  vie: 'vi',
}

export async function detectLanguage(text: string, hint: string | null = null): Promise<DetectedLanguage> {
  const sample = text.slice(0, SAMPLE_CHARACTERS).toWellFormed()
  if ((sample.match(/\p{L}/gu) ?? []).length < LETTERS_MIN) return { language: hint, confidence: 0 }
  const { francAll } = await import('franc-min')
  const scores = new Map<string, number>()
  for (const [code, score] of francAll(sample, { minLength: LETTERS_MIN })) {
    const language = TWO_LETTERS[code]
    if (language) scores.set(language, score)
  }
  const words = wordsOf(sample.toLowerCase())
  const shares = await commonWordShares(words)
  for (const [language, share] of shares) {
    scores.set(language, (scores.get(language) ?? 0) + share)
  }
  if (hint !== null && scores.has(hint)) scores.set(hint, scores.get(hint)! + HINT_WEIGHT)
  const ranked = [...scores].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  const [best, second] = ranked
  if (best === undefined || isAccident(best[0], words.length, shares)) return { language: hint, confidence: 0 }
  const lead = (best[1] - (second?.[1] ?? 0)) / best[1]
  return { language: best[0], confidence: Number(Math.min(1, lead * 2).toFixed(2)) }
}

/** Per language the share of the words that are common ones, 1 for the language that has most. */
async function commonWordShares(words: string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const language of STOP_WORD_LANGUAGES) {
    const common = await stopWordsOf(language)
    const count = words.filter((word) => common.has(word)).length
    if (count > 0) counts.set(language, count)
  }
  const most = Math.max(1, ...counts.values())
  return new Map([...counts].map(([language, count]) => [language, count / most]))
}

/** Letters alone resemble some language always; many words without a common one are none. */
function isAccident(language: string, wordCount: number, shares: Map<string, number>): boolean {
  return wordCount >= WORDS_ENOUGH && STOP_WORD_LANGUAGES.includes(language) && !shares.has(language)
}
