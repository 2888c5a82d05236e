/** Which kind of text a text is, by its content alone: HTML, Markdown, CSV or plain. Looks at its first part, in linear time. */

import { csvShapeOf } from './csv-shape.ts'

export type TextKind = {
  kind: 'html' | 'markdown' | 'csv' | 'text'
  /** Of a CSV table, with the columns of its first records. */
  delimiter: string | null
  columns: number
}

const SAMPLE_CHARACTERS = 256 * 1024
const LINE_CHARACTERS = 300
const HTML_START = /^(<!doctype html|<html|<head|<body)[\s>]/i
const HTML_TAGS = /<(?:html|body|head|div|p|table|ul|ol|h[1-6]|span|br|a)[\s/>]/gi
const HTML_TAGS_NEEDED = 3

const MARKDOWN: RegExp[] = [
  /^#{1,6} \S/,
  /^(```|~~~)/,
  /^[-*+] (\[[ x]\] )?\S/,
  /^> \S/,
  /\]\((https?:|\.|\/|#)/,
  /\*\*[^*\s][^*]{0,100}\*\*/,
  /^\|?[ :]*-{3,}[ :]*\|[ :|-]*$/,
  /^(={3,}|-{3,})$/,
]

export function identifyText(text: string): TextKind {
  const sample = text.slice(0, SAMPLE_CHARACTERS)
  const isCut = sample.length < text.length
  if (isHtml(sample)) return { kind: 'html', delimiter: null, columns: 0 }
  if (isMarkdown(sample)) return { kind: 'markdown', delimiter: null, columns: 0 }
  const table = csvShapeOf(sample, isCut)
  return table ? { kind: 'csv', ...table } : { kind: 'text', delimiter: null, columns: 0 }
}

function isHtml(sample: string): boolean {
  const start = withoutPreamble(sample)
  if (HTML_START.test(start.slice(0, 100))) return true
  if (!start.startsWith('<')) return false
  return (start.slice(0, 16_384).match(HTML_TAGS) ?? []).length >= HTML_TAGS_NEEDED
}

/** Leaves out comments and the XML declaration that may stand in front. */
function withoutPreamble(sample: string): string {
  let rest = sample.trimStart()
  for (const [open, close] of [
    ['<?xml', '?>'],
    ['<!--', '-->'],
  ] as const) {
    if (!rest.startsWith(open)) continue
    const end = rest.indexOf(close)
    if (end !== -1) rest = rest.slice(end + close.length).trimStart()
  }
  return rest
}

/** Two different signs of Markdown, or two headings. */
function isMarkdown(sample: string): boolean {
  const seen = new Set<number>()
  let headings = 0
  for (const line of sample.split('\n', 2000)) {
    const start = line.slice(0, LINE_CHARACTERS).trimEnd()
    for (const [sign, pattern] of MARKDOWN.entries()) if (pattern.test(start)) seen.add(sign)
    if (MARKDOWN[0]!.test(start)) headings++
    if (seen.size >= 2 || headings >= 2) return true
  }
  return false
}
