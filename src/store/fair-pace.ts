/**
 * How many runs an owner is served at a time by a large claim. Several are cheaper, because fewer owners' rows are written; but those who are
 * not served wait until the next claim. So it follows how many runs this worker has lately taken: one that takes thousands a
 * second comes round to everyone soon, one whose runs are long does not and serves two at most.
 *
 * Where owners have fewer runs than that, slots are left over and have to be shared out again, so then it falls to what they had.
 */

const FEWEST = 2
const MOST = 16
/** So many taken in a second allow for one more at a time: then a thousand owners have all had a turn within about two seconds. */
const RUNS_A_STEP = 500
const SPAN_MS = 1_000

export type Pace = {
  atOnce(): number
  took(runs: number): void
  /** What a large claim got, of how many owners, and whether that was all it wanted. */
  got(runs: number, owners: number, isAll: boolean): void
}

export function createPace(now: () => number = () => performance.now()): Pace {
  let spanFrom = now()
  let taken = 0
  let before = 0
  let most = MOST

  function turnOver(): void {
    const passedMs = now() - spanFrom
    if (passedMs < SPAN_MS) return
    // A span that is long over says that little was taken since.
    before = passedMs < 2 * SPAN_MS ? taken : 0
    taken = 0
    spanFrom = now()
  }

  return {
    atOnce() {
      turnOver()
      return Math.min(most, Math.max(FEWEST, Math.floor(Math.max(taken, before) / RUNS_A_STEP)))
    },
    took(runs) {
      turnOver()
      taken += runs
    },
    got(runs, owners, isAll) {
      if (isAll) most = Math.min(MOST, most + 1)
      // Nothing at all says only that nobody waits.
      else if (runs > 0) most = Math.max(1, Math.floor(runs / owners))
    },
  }
}
