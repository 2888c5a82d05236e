/** The time this client goes by; tests bring their own. */

export type Clock = {
  nowMs(): number
  /** Rejects with the signal's reason when it fires first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const wallClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}
