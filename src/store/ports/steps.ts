/**
 * Steps: named parts of a run's work whose outputs are durable, so that a later attempt goes on after the last of them.
 *
 * The first output committed under a name is the one the run has; nothing changes or takes it away. A run that goes on from another one has
 * that one's steps as well, if both are of the same model, version and owner; its own come first.
 */

import type { Fence } from './attempts.ts'

export type NewStep = {
  name: string
  /** By the clock of whoever did it, as far as it was said. */
  startedAt: Date | null
  tries: number
  output: StepOutput
  cpuSeconds?: number | null
  peakMemoryBytes?: number | null
}

/** As a result: its canonical text inline, or a reference to it. */
export type StepOutput = { ref: string; hash: string; bytes: number; text: string | null }

export type Step = {
  name: string
  /** The run that did it; another one for a step that was taken over. */
  runId: string
  /** 1, 2, 3 … of the run that did it, in the order of the commits. */
  no: number
  /** The attempt that committed it. */
  attempt: number
  startedAt: Date | null
  finishedAt: Date
  tries: number
  output: StepOutput
  cpuSeconds: number | null
  peakMemoryBytes: number | null
}

export type StepLimits = {
  /** Named steps of a run. */
  steps: number
  /** Items of maps of a run; as many as steps when not given. */
  items?: number
  /** Of all outputs of a run together. */
  bytes: number
}

/** `lost`: the token or the fence is not that of an open attempt. `conflict`: the run has another output under the name. */
export type StepCommit = { is: 'kept' | 'repeated' | 'conflict'; step: Step } | { is: 'lost' } | { is: 'full' }

/** The same of a worker that holds the lease, which asks for nothing but the verdict. */
export type HeldCommit = 'kept' | 'repeated' | 'conflict' | 'lost' | 'full'

export type HeldFence = Fence & { workerId: string }

/** The items of a map that are done, all together. */
export type StepItems = {
  map: string
  done: number
  tries: number
  startedAt: Date | null
  finishedAt: Date
}

/** A step that is not done, as the attempt's row holds it; times are ISO 8601. */
export type StoredStepState = {
  name: string
  state: 'RUNNING' | 'WAITING' | 'FAILED'
  tries: number
  started_at: string
  last_error: { class: string; message: string } | null
  /** Of a map. */
  items?: { done: number; of: number }
}

export interface Steps {
  commit(runId: string, tokenHash: Buffer, step: NewStep, limits: StepLimits): Promise<StepCommit>
  /**
   * The same by the fence of the worker that holds the lease, together with what other attempts of this process commit meanwhile. "kept" and
   * "repeated" are said only of an attempt that was open when it became durable. Sent again it is recognised.
   */
  commitHeld(fence: HeldFence, step: NewStep, limits: StepLimits): Promise<HeldCommit>
  /** Those done so far, in their order, with what was taken over first. The text of an inline output longer than `textBytesMax` is left out. */
  list(runId: string, textBytesMax?: number): Promise<Step[]>
  /** Whether the run has steps, its own or taken over; asked together with others. */
  hasAny(runId: string): Promise<boolean>
  /** As `list`, with the items of maps only counted. */
  overview(runId: string, textBytesMax: number): Promise<{ steps: Step[]; items: StepItems[] }>
  /** The items of a map that are done, by their place. */
  items(
    runId: string,
    map: string,
    page: { limit: number; cursor: string | null; textBytesMax: number },
  ): Promise<{ steps: Step[]; nextCursor: string | null }>
  /** Of these runs, how many bytes the outputs have; runs without steps are not named. */
  bytesOf(runIds: string[]): Promise<Map<string, number>>
  /** What stands in the way of an end, for people; nothing is written about an attempt that is over. */
  saveStates(items: { fence: Fence; states: StoredStepState[] }[]): Promise<void>
  /** Of the latest attempt of the run that has any. */
  states(runId: string): Promise<{ attempt: number; states: StoredStepState[] } | null>
}
