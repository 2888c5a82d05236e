/** Whether a process runs. One that has ended and that nobody has asked about yet does not. */

import { readFileSync } from 'node:fs'

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
