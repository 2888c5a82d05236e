/**
 * What user code in a child writes to stdout and stderr. The worker takes each line for one of the attempt that runs, so what
 * leftover activity of an earlier attempt writes is dropped here, where it can still be told apart.
 */

import type { AsyncLocalStorage } from 'node:async_hooks'

export function dropStaleOutput(runningId: () => number | null, writerIds: AsyncLocalStorage<number>): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
    stream.write = ((...args: unknown[]): boolean => {
      const writerId = writerIds.getStore()
      if (writerId === undefined || writerId === runningId()) return write(...args)
      const written = args.at(-1)
      if (typeof written === 'function') process.nextTick(written)
      return true
    }) as typeof stream.write
  }
}

/** Resolves when all output is with the worker, so that it arrives before what is sent next. At once when there is none. */
export async function outputWritten(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
}
