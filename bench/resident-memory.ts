/** The resident memory of another process, as the kernel tells it. Linux only. */

import { readFile } from 'node:fs/promises'

const LOOK_MS = 50

export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024
}

/** Looks again and again until it is stopped, and answers the most it has seen. */
export function watchMemory(pid: number): { stop(): Promise<number> } {
  let most = 0
  let isStopped = false
  const look = async (): Promise<void> => {
    while (!isStopped) {
      most = Math.max(most, await residentBytes(pid))
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
  const looking = look()
  return {
    async stop() {
      isStopped = true
      await looking
      return most
    },
  }
}
