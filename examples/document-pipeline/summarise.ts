/**
 * D5: a summary made of the document's own sentences, and the words to find it by. The text itself stays behind, so that what is
 * left, the result of the run, is small. Equal documents give equal results.
 */

import type { WithEntities } from './find-entities.ts'
import { stopWordsOf } from './stop-words.ts'
import { sentencesOf, wordsOf } from './words.ts'

export type DocumentResult = Omit<WithEntities, 'text'> & { summary: string; terms: { term: string; count: number }[] }

const SENTENCES_READ_MAX = 2000
const SUMMARY_SENTENCES = 3
const SENTENCE_CHARACTERS_MAX = 400
const TERMS_MAX = 20
const TERM_CHARACTERS_MIN = 3
/** Of the score of an average sentence; what comes first in a document matters more. */
const FIRST_BONUS = 0.3

type Scored = { sentence: string; index: number; score: number }

export async function summarise(document: WithEntities): Promise<DocumentResult> {
  const { text, ...rest } = document
  const stopWords = await stopWordsOf(document.language)
  const counts = countTerms(wordsOf(text), stopWords)
  return { ...rest, summary: summaryOf(sentencesOf(text, SENTENCES_READ_MAX), counts), terms: topTerms(counts) }
}

function countTerms(words: string[], stopWords: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) {
    const term = word.toLowerCase()
    if (isTerm(term) && !stopWords.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1)
  }
  return counts
}

/** A number tells nothing; a short word does only in scripts whose words are short. */
function isTerm(term: string): boolean {
  if (!/\p{L}/u.test(term)) return false
  return term.length >= TERM_CHARACTERS_MIN || /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(term)
}

function topTerms(counts: Map<string, number>): DocumentResult['terms'] {
  const ranked = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  return ranked.slice(0, TERMS_MAX).map(([term, count]) => ({ term: term.toWellFormed(), count }))
}

/** The sentences whose words the document uses most, in the order they stand in it. */
function summaryOf(sentences: string[], counts: Map<string, number>): string {
  const scored: Scored[] = [...new Set(sentences)].map((sentence, index) => {
    const words = wordsOf(sentence)
    const total = words.reduce((sum, word) => sum + (counts.get(word.toLowerCase()) ?? 0), 0)
    // Neither a heading of two words nor a list of hundred is a good sentence.
    const score = words.length < 4 ? 0 : total / Math.max(words.length, 8)
    return { sentence, index, score }
  })
  const mean = scored.reduce((sum, { score }) => sum + score, 0) / Math.max(1, scored.length)
  const best = scored
    .map((one) => ({ ...one, score: one.score + (mean * FIRST_BONUS) / (1 + one.index) }))
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, SUMMARY_SENTENCES)
  return best
    .sort((a, b) => a.index - b.index)
    .map(({ sentence }) => shortened(sentence))
    .join(' ')
}

function shortened(sentence: string): string {
  const line = sentence.replace(/\s+/g, ' ')
  return line.length <= SENTENCE_CHARACTERS_MAX
    ? line
    : `${line.slice(0, SENTENCE_CHARACTERS_MAX).trimEnd().toWellFormed()}…`
}
