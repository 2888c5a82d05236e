/** D3: the language of the text, and how much of it there is. */

import { detectLanguage } from './detect-language.ts'
import type { Extracted } from './extract.ts'
import { sentencesOf, wordsOf } from './words.ts'

export type Statistics = {
  /** Code points. */
  characters: number
  words: number
  sentences: number
  lines: number
  /** For someone who reads silently. */
  reading_seconds: number
}

export type Measured = Extracted & { language: string | null; language_confidence: number; statistics: Statistics }

const WORDS_PER_MINUTE = 230

export async function measure(extracted: Extracted, languageHint: string | null = null): Promise<Measured> {
  const { text } = extracted
  const { language, confidence } = await detectLanguage(text, languageHint)
  const words = wordsOf(text).length
  const statistics = {
    characters: codePoints(text),
    words,
    sentences: sentencesOf(text).length,
    lines: text === '' ? 0 : text.split('\n').length,
    reading_seconds: Math.ceil((words / WORDS_PER_MINUTE) * 60),
  }
  return { ...extracted, language, language_confidence: confidence, statistics }
}

function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
