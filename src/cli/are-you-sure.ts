/** Asks before something is done that cannot be undone. Where nobody can answer, nothing is done. */

import { createInterface } from 'node:readline/promises'

export async function isSure(question: string, without: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error(without)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}
