/**
 * One valid document with known facts, of any kind; the same seed and index give the same bytes, and another index gives
 * others.
 */

import { seededRandom } from 'holdfast'
import { between, type Facts, makeFacts, pick, type Random } from './sample-facts.ts'
import { LANGUAGES, type SampleLanguage, SENTENCES } from './sample-language.ts'
import { writeDocx } from './write-docx.ts'
import { writePdf } from './write-pdf.ts'

export const KINDS = ['text', 'markdown', 'html', 'csv', 'pdf', 'docx'] as const
export type SampleKind = (typeof KINDS)[number]

export type GoodSample = { name: string; bytes: Buffer; kind: SampleKind; language: SampleLanguage; facts: Facts }

type Parts = { title: string; sentences: string[]; facts: Facts; random: Random; index: number }

const EXTENSIONS: Record<SampleKind, string> = {
  text: 'txt',
  markdown: 'md',
  html: 'html',
  csv: 'csv',
  pdf: 'pdf',
  docx: 'docx',
}
const WRITERS: Record<SampleKind, (parts: Parts) => Buffer> = { text, markdown, html, csv, pdf, docx }
const SENTENCES_PER_PAGE = 12

export function goodSample(seed: number, index: number): GoodSample {
  const random = seededRandom(seed, index)
  const kind = pick(random, KINDS)
  const language = kind === 'csv' ? 'en' : pick(random, LANGUAGES)
  const facts = makeFacts(random, language, index)
  const { title, facts: stating, filler } = SENTENCES[language]
  const written = stating.map((sentence) =>
    sentence
      .replace('{date}', facts.date.written)
      .replace('{amount}', () => facts.amount.written)
      .replace('{email}', facts.email)
      .replace('{place}', facts.place.written),
  )
  const others = Array.from({ length: between(random, 3, 30) }, () => pick(random, filler))
  const sentences = shuffled(random, [...written, ...others])
  const bytes = WRITERS[kind]({ title: `${title} ${index}`, sentences, facts, random, index })
  return { name: nameOf(random, kind, index), bytes, kind, language, facts }
}

/** Names as people give them: most are plain, some are long, right to left, or full of marks. */
function nameOf(random: Random, kind: SampleKind, index: number): string {
  const stem = pick(random, ['report', 'report', 'report', 'Étude n°', 'תקציר', 'a b & c (1)', 'x'.repeat(120)])
  return `${stem}-${String(index).padStart(6, '0')}.${EXTENSIONS[kind]}`
}

function text({ title, sentences, random }: Parts): Buffer {
  const written = `${title}\n\n${paragraphs(sentences).join('\n\n')}\n`
  const encoding = pick(random, ['utf8', 'utf8', 'utf8', 'utf16le', 'bom'] as const)
  if (encoding === 'utf8') return Buffer.from(written)
  return Buffer.from(`\ufeff${written}`, encoding === 'bom' ? 'utf8' : encoding)
}

function markdown({ title, sentences, index }: Parts): Buffer {
  const [first, ...rest] = paragraphs(sentences)
  const items = (first ?? '').split('\n').map((sentence) => `- ${sentence}`)
  return Buffer.from(
    `# ${title}\n\n${items.join('\n')}\n\n## P. *2*\n\n${rest.join('\n\n')}\n\n[more](https://example.com/${index})\n`,
  )
}

function html({ title, sentences }: Parts): Buffer {
  const body = paragraphs(sentences).map((one) => `<p>${one.replaceAll('&', '&amp;').replaceAll('\n', '<br>')}</p>`)
  const head = `<meta charset="utf-8"><title>${title}</title><style>p { top: 1 }</style><script>alert('no')</script>`
  return Buffer.from(
    `<!DOCTYPE html>\n<html><head>${head}</head><body><h1>${title}</h1>\n${body.join('\n')}</body></html>\n`,
  )
}

function csv({ facts, random, index }: Parts): Buffer {
  const mark = pick(random, [',', ';', '\t'])
  const field = (value: string) => `"${value.replaceAll('"', '""')}"`
  const stations = Array.from({ length: between(random, 3, 40) }, (_, row) => [
    `Station ${index}-${row}`,
    `The reading of pump ${row} was taken by the night shift`,
    String(between(random, 0, 999)),
  ])
  const told = Object.values(facts).map((fact, row) => [
    `Fact ${row}`,
    typeof fact === 'string' ? fact : fact.written,
    String(row),
  ])
  const rows = [['station', 'remark', 'reading'], ...told, ...stations]
  return Buffer.from(rows.map((row) => row.map(field).join(mark)).join('\r\n'))
}

function pdf({ title, sentences }: Parts): Buffer {
  const pages: string[][] = []
  for (let from = 0; from < sentences.length; from += SENTENCES_PER_PAGE) {
    pages.push(sentences.slice(from, from + SENTENCES_PER_PAGE))
  }
  pages[0]?.unshift(title)
  return writePdf(pages)
}

function docx({ title, sentences }: Parts): Buffer {
  return writeDocx([title, ...paragraphs(sentences).map((one) => one.replaceAll('\n', ' '))])
}

function paragraphs(sentences: string[]): string[] {
  const found: string[] = []
  for (let from = 0; from < sentences.length; from += 4) found.push(sentences.slice(from, from + 4).join('\n'))
  return found
}

function shuffled<T>(random: Random, items: T[]): T[] {
  const left = [...items]
  return items.map(() => left.splice(Math.floor(random() * left.length), 1)[0]!)
}
