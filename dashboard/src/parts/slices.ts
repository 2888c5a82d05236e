/** Long work in short pieces, so that the page answers between them. */

const SLICE_MS = 8

/** Lets the page do what is waiting. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

/** Says when it is time to breathe. */
export function sliceClock(): { isOver(): boolean; restart(): void } {
  let sinceMs = performance.now()
  return {
    isOver: () => performance.now() - sinceMs > SLICE_MS,
    restart: () => {
      sinceMs = performance.now()
    },
  }
}

/** Hands over what a walk gives, slice by slice; `isDone` with the last. Ends early when `take` answers false or the signal fires. */
export async function inSlices<Item>(
  walk: Iterator<Item>,
  take: (items: Item[], isDone: boolean) => boolean,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const clock = sliceClock()
    const items: Item[] = []
    let next = walk.next()
    while (!next.done) {
      items.push(next.value)
      if (clock.isOver()) break
      next = walk.next()
    }
    if (!take(items, next.done === true) || next.done) return
    await breathe()
  }
}
