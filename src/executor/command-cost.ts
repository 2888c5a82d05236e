/**
 * What a program says its attempt has cost: the newest line of the file `HOLDFAST_COST` names, one amount per line. It is read
 * once, when the program has ended in whichever way, as only the last word counts. What is no amount is left out and complained
 * about.
 */

import { AMOUNT_WANTED, isAmount, roundAmount } from '../run/amount.ts'
import { openPlainFile } from './plain-file.ts'

/** The end of the file that is looked at. */
const END_BYTES = 4_096

/** Null when nothing was said. */
export async function readCost(path: string, onProblem: (message: string) => void): Promise<number | null> {
  try {
    const line = await lastLineOf(path)
    if (line === null) return null
    const amount = Number(line)
    if (!isAmount(amount)) throw new Error(`${JSON.stringify(line.slice(0, 40))} ${AMOUNT_WANTED}`)
    return roundAmount(amount)
  } catch (error) {
    onProblem(`cost left out: ${(error as Error).message}`)
    return null
  }
}

/** The last one that is not blank. */
async function lastLineOf(path: string): Promise<string | null> {
  const file = await openPlainFile(path)
  if (file === null) return null
  try {
    const from = Math.max(0, (await file.stat()).size - END_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, from)
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n')
    return lines.findLast((line) => line.trim() !== '')?.trim() ?? null
  } finally {
    await file.close()
  }
}
