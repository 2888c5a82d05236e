/** The differences of two values, found in slices: the page answers while a large result is being compared. */

import { useEffect, useState } from 'react'
import { inSlices } from '../../parts/slices.ts'
import { type Difference, differences } from './diff.ts'

/** More rows help nobody; the rest is counted. */
export const ROWS_MAX = 300

export type Found = { rows: Difference[]; count: number; isDone: boolean }

const NOTHING: Found = { rows: [], count: 0, isDone: false }

export function useDifferences(a: unknown, b: unknown, withSame: boolean): Found {
  const [found, setFound] = useState<Found>(NOTHING)
  useEffect(() => {
    setFound(NOTHING)
    const ending = new AbortController()
    const rows: Difference[] = []
    let count = 0
    const take = (given: (Difference | null)[], isDone: boolean) => {
      if (ending.signal.aborted) return false
      for (const each of given) {
        if (each === null) continue
        count += 1
        if (rows.length < ROWS_MAX) rows.push(each)
      }
      setFound({ rows: [...rows], count, isDone })
      return true
    }
    void inSlices(differences(a, b, { withSame }), take, ending.signal)
    return () => ending.abort()
  }, [a, b, withSame])
  return found
}
