/** Waiting with an end, for transports that may be down and must not hold anything up. */

/** Settles as the promise does, or rejects after `ms`. */
export async function answeredWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms} ms`)), ms)
  try {
    await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves when the promise has ended, well or badly, and after `ms` at the latest. */
export async function endedWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  await answeredWithin(promise, ms).catch(() => {})
}
