/** Applies work to items, a bounded number at once, and gives the results in the order of the items. */

/** After the first failure nothing more is begun; what is under way is waited for, then the map fails with it. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length)
  let next = 0
  let failure: { thrown: unknown } | null = null
  async function lane(): Promise<void> {
    while (next < items.length && failure === null) {
      const index = next++
      try {
        results[index] = await work(items[index]!, index)
      } catch (thrown) {
        failure ??= { thrown }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, lane))
  const failed = failure as { thrown: unknown } | null
  if (failed) throw failed.thrown
  return results
}
