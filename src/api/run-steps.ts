/**
 * All steps of a run as people see them: those that are done, those under way or failed as the latest attempt told of them, and those that
 * the model will come to. The items of a map are counted. What is done wins over an older word on it.
 */

import type { StepObject } from '../contract/step.ts'
import type { RedactOptions } from '../run/redaction.ts'
import { isTerminal } from '../run/status.ts'
import { itemOfName } from '../run/step-names.ts'
import type { Step, StepItems, StoredStepState } from '../store/ports/steps.ts'
import type { RunDetail } from '../store/store.ts'
import { durationSeconds, pendingStep, presentStep } from './present-step.ts'

export type RunStepsFacts = {
  detail: RunDetail
  /** The names of the model's steps, as far as they are known. */
  declared: readonly string[]
  done: { steps: Step[]; items: StepItems[] }
  latest: { attempt: number; states: StoredStepState[] } | null
}

export function runSteps({ detail, declared, done, latest }: RunStepsFacts, redaction: RedactOptions): StepObject[] {
  const shown = new Map<string, StepObject>(declared.map((name) => [name, pendingStep(name)]))
  for (const step of done.steps) shown.set(step.name, presentStep(step, detail.run.id, redaction))
  for (const items of done.items) shown.set(items.map, withItems(shown.get(items.map), items))
  for (const state of latest?.states ?? []) {
    const before = shown.get(state.name)
    if (before?.state === 'SUCCEEDED' || itemOfName(state.name)) continue
    shown.set(state.name, openStep(state, latest!.attempt, before ?? pendingStep(state.name), detail))
  }
  return [...shown.values()]
}

/** A map that is done has said how many items it had. */
function withItems(
  map: StepObject | undefined,
  { map: name, done, tries, startedAt, finishedAt }: StepItems,
): StepObject {
  if (map?.state === 'SUCCEEDED') return { ...map, tries, output: null, items: { done, of: itemCount(map.output) } }
  const duration = durationSeconds(startedAt, finishedAt)
  const times = { started_at: startedAt?.toISOString() ?? null, duration_seconds: duration }
  return { ...(map ?? pendingStep(name)), ...times, tries, items: { done, of: null } }
}

function itemCount(output: unknown): number | null {
  const { items } = (output ?? {}) as { items?: unknown }
  return typeof items === 'number' ? items : null
}

/** What ended together with its attempt begins again, if the run does. */
function openStep(
  { name, state, tries, started_at: startedAt, last_error: lastError, items }: StoredStepState,
  attempt: number,
  before: StepObject,
  { run, attempts }: RunDetail,
): StepObject {
  const isOver = attempts.find((one) => one.attempt === attempt)?.finishedAt !== null
  const ended = isTerminal(run.status) ? 'FAILED' : 'PENDING'
  return {
    ...before,
    name,
    state: isOver && state !== 'FAILED' ? ended : state,
    tries,
    started_at: startedAt,
    attempt,
    last_error: lastError,
    items: items ? { done: Math.max(items.done, before.items?.done ?? 0), of: items.of } : before.items,
  }
}
