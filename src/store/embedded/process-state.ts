/** What can be learnt of a process by its id. A zombie counts as dead: it holds nothing but its number. */

import { readFileSync } from 'node:fs'

export function isAlive(pid: number): boolean {
  return idIsTaken(pid) && procStat(pid)?.state !== 'Z'
}

/** True when the id belongs to something that surely is not a living `program`; only Linux can tell. */
export function isSurelyNot(pid: number, program: string): boolean {
  const stat = procStat(pid)
  return stat !== null && (stat.state === 'Z' || stat.program !== program)
}

function idIsTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function procStat(pid: number): { program: string; state: string } | null {
  try {
    const [, program = '', state = ''] = /^\d+ \((.*)\) (\S)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return { program, state }
  } catch {
    return null
  }
}
