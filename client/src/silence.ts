/** How long a stream may say nothing. */

/** The service sends a sign of life far more often than this. */
export const SILENCE_MS_MAX = 60_000

/** Null when it takes longer: a connection that silent is treated like one that ended. Rejects when the signal fires. */
export function within<Got>(promise: Promise<Got>, ms: number, signal: AbortSignal | undefined): Promise<Got | null> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const onAbort = () => {
      done()
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      done()
      resolve(null)
    }, ms)
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(done)
  })
}
