/**
 * The first so many of a list that comes page by page. Lists may look at much and find little, so looking ends after a while: what was found up
 * to then is answered, and that it was cut.
 */

export type Taken<Item> = {
  items: Item[]
  /** There are more, or there may be. */
  hasMore: boolean
  /** Looking was ended before so many were found. */
  isCut: boolean
}

export type TakeOptions = { signal: AbortSignal; budgetMs: number }

export async function take<Item>(
  list: (signal: AbortSignal) => AsyncIterable<Item>,
  count: number,
  { signal, budgetMs }: TakeOptions,
): Promise<Taken<Item>> {
  const late = AbortSignal.timeout(budgetMs)
  const items: Item[] = []
  try {
    for await (const item of list(AbortSignal.any([signal, late]))) {
      if (items.length === count) return { items, hasMore: true, isCut: false }
      items.push(item)
    }
    return { items, hasMore: false, isCut: false }
  } catch (error) {
    if (late.aborted && !signal.aborted) return { items, hasMore: true, isCut: true }
    throw error
  }
}
