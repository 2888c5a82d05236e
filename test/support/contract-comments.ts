/**
 * Reads the comments of src/contract: of each exported schema and of its fields, by the names they have in the OpenAPI document
 * (`Run`, `Run.lease`). It reads formatted code, where a field begins with two spaces and its comment stands right above it.
 */

import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../../src/contract/', import.meta.url)
const DECLARATION = /^export const (\w+) =(?: (\w+)\.extend\()?/
const FIELD = /^ {2}(\w+):/
const SPREAD = /^ {2}\.\.\.(\w+),/

export function readContractComments(): Record<string, string> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const found = new Map<string, string>()
  // Twice, because one file may build on another that comes later.
  for (let round = 0; round < 2; round += 1) {
    for (const name of files) readFile(readFileSync(new URL(name, FOLDER), 'utf8'), found)
  }
  const shown = [...found].filter(([name]) => /^[A-Z][a-z]/.test(name))
  return Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function readFile(text: string, found: Map<string, string>): void {
  let schema = ''
  let comment: string[] = []
  for (const line of text.split('\n')) {
    const words = /^ *(?:\/\*\*|\*(?!\/))? ?(.*?)(?: ?\*\/)?$/.exec(line)![1]!
    if (/^ *\/\*\*/.test(line)) comment = [words]
    else if (/^ *\*/.test(line)) comment.push(words)
    else {
      const said = comment.filter(Boolean).join(' ')
      comment = []
      const [, declared, base] = DECLARATION.exec(line) ?? []
      if (declared) {
        schema = shownName(declared)
        if (said) found.set(schema, said)
        if (base) copy(shownName(base), schema, found)
      } else if (/^\S/.test(line) && !/^[)}]/.test(line)) schema = ''
      const spread = SPREAD.exec(line)?.[1]
      if (schema && spread) copy(shownName(spread), schema, found)
      const field = FIELD.exec(line)?.[1]
      if (schema && field && said) found.set(`${schema}.${field}`, said)
    }
  }
}

function copy(from: string, to: string, found: Map<string, string>): void {
  for (const [name, words] of [...found]) {
    const [schema, field] = name.split('.')
    if (schema === from && field && !found.has(`${to}.${field}`)) found.set(`${to}.${field}`, words)
  }
}

function shownName(exported: string): string {
  return exported.replace(/Object$/, '')
}

/** The file that the service reads them from. */
export function renderContractComments(comments: Record<string, string>): string {
  return `/**
 * What the comments of src/contract say about schemas and their fields, for the OpenAPI document. Generated: a test holds it
 * equal to them, and UPDATE_GOLDEN=1 writes it.
 */

export const CONTRACT_COMMENTS: Record<string, string> = ${JSON.stringify(comments, null, 2)}
`
}
