/**
 * The processes of this machine as /proc shows them, and which of them belong to a watched program. Linux only.
 *
 * A process belongs to a program when it is in its group or session, is a child of one that belongs, was seen to belong before, or was
 * started with the program's mark in its environment. A daemon that forks twice and opens a session of its own keeps the mark.
 */

import { readdirSync, readFileSync } from 'node:fs'

export type ProcessRow = {
  pid: number
  name: string
  parent: number
  group: number
  session: number
  /** Of it and of those of its children that have ended. */
  cpuSeconds: number
  /** Tells two processes apart that had the same id one after the other. */
  startTicks: number
}

const TICKS_PER_SECOND = 100
export const MARK_NAME = 'HOLDFAST_MARK'

/** All processes that have not ended; a zombie has. */
export function readProcessTable(): ProcessRow[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    const row = Number.isInteger(pid) ? readRow(pid) : null
    return row ? [row] : []
  })
}

export function readRow(pid: number): ProcessRow | null {
  const text = readOrNull(`/proc/${pid}/stat`)
  if (text === null) return null
  // The name stands between parentheses and may hold any character, so the fields are counted from the last one.
  const close = text.lastIndexOf(')')
  const fields = text.slice(close + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return null
  const at = (index: number) => Number(fields[index])
  return {
    pid,
    name: text.slice(text.indexOf('(') + 1, close),
    parent: at(1),
    group: at(2),
    session: at(3),
    cpuSeconds: (at(11) + at(12) + at(13) + at(14)) / TICKS_PER_SECOND,
    startTicks: at(19),
  }
}

/** The mark a process was started with, `<whose>.<number>`, or null. */
export function readMark(pid: number): string | null {
  const text = readOrNull(`/proc/${pid}/environ`)
  const from = text === null ? -1 : `\0${text}`.indexOf(`\0${MARK_NAME}=`)
  return from === -1 ? null : (text!.slice(from + MARK_NAME.length + 1).split('\0', 1)[0] ?? null)
}

/** Resident memory now and at most since it was started. */
export function readMemory(pid: number): { bytes: number; peakBytes: number } {
  const text = readOrNull(`/proc/${pid}/status`) ?? ''
  return { bytes: kilobytes(text, 'VmRSS'), peakBytes: kilobytes(text, 'VmHWM') }
}

/** Resident memory with what is shared counted once over all who share it; slower to read. */
export function readFairMemory(pid: number): number {
  const text = readOrNull(`/proc/${pid}/smaps_rollup`)
  return text === null ? readMemory(pid).bytes : kilobytes(text, 'Pss')
}

function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
