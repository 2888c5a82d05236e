/** The steps of two runs side by side, matched by name, with bars on one scale. */

import type { Step } from '@holdfast/client'
import { timeChange } from './facts.ts'

export type StepSide = { state: Step['state']; seconds: number | null; tries: number; isTakenOver: boolean }

export type StepPair = {
  name: string
  a: StepSide | null
  b: StepSide | null
  /** Of the longest step of either run, 0 to 1. */
  aPart: number
  bPart: number
  change: string | null
}

export function stepPairs(a: readonly Step[], b: readonly Step[]): StepPair[] {
  const names = [...new Set([...a, ...b].map(({ name }) => name))]
  const [ofA, ofB] = [a, b].map((steps) => new Map(steps.map((step) => [step.name, sideOf(step)]))) as [Sides, Sides]
  const most = Math.max(0, ...[...ofA.values(), ...ofB.values()].map(({ seconds }) => seconds ?? 0))
  const part = (side: StepSide | null) => (most > 0 ? (side?.seconds ?? 0) / most : 0)
  return names.map((name) => {
    const [left, right] = [ofA.get(name) ?? null, ofB.get(name) ?? null]
    const change = timeChange(left?.seconds ?? null, right?.seconds ?? null)
    return { name, a: left, b: right, aPart: part(left), bPart: part(right), change }
  })
}

type Sides = Map<string, StepSide>

function sideOf({ state, duration_seconds: seconds, tries, from_run_id: from }: Step): StepSide {
  return { state, seconds, tries, isTakenOver: from !== null }
}
