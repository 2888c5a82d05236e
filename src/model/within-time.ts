/** One try of a step within its time. Its signal fires when the time is over, and what it still does is not waited for. */

class StepTimeout extends Error {
  override readonly name = 'StepTimeout'
}

/** `signalOf` is asked only when there is a limit: without one the try has the signal of its attempt, which is made at first use. */
export async function withinTime(
  step: string,
  timeoutSeconds: number | null,
  signalOf: () => AbortSignal,
  work: (signal: AbortSignal | null) => unknown,
): Promise<unknown> {
  if (timeoutSeconds === null) return work(null)
  const late = Promise.withResolvers<never>()
  const controller = new AbortController()
  const timer = setTimeout(() => {
    const error = new StepTimeout(`step ${JSON.stringify(step)} took longer than its limit of ${timeoutSeconds} s`)
    late.reject(error)
    controller.abort(error)
  }, timeoutSeconds * 1_000)
  try {
    const begun = (async () => work(AbortSignal.any([signalOf(), controller.signal])))()
    return await Promise.race([begun, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
