/**
 * Steps: named parts of a run's work whose outputs are durable, so that a later attempt goes on after the last of them.
 *
 * The first output committed under a name is the one the run has; nothing changes or takes it away.
 */

export type NewStep = {
  name: string
  /** By the clock of whoever did it, as far as it was said. */
  startedAt: Date | null
  tries: number
  output: StepOutput
}

/** As a result: its canonical text inline, or a reference to it. */
export type StepOutput = { ref: string; hash: string; bytes: number; text: string | null }

export type Step = {
  name: string
  /** 1, 2, 3 … of the run, in the order of the commits. */
  no: number
  /** The attempt that committed it. */
  attempt: number
  startedAt: Date | null
  finishedAt: Date
  tries: number
  output: StepOutput
}

export type StepLimits = {
  steps: number
  /** Of all outputs of a run together. */
  bytes: number
}

/** `lost`: the token is not that of an open attempt. `conflict`: the run has another output under the name. */
export type StepCommit = { is: 'kept' | 'repeated' | 'conflict'; step: Step } | { is: 'lost' } | { is: 'full' }

export interface Steps {
  commit(runId: string, tokenHash: Buffer, step: NewStep, limits: StepLimits): Promise<StepCommit>
  /** In their order. The text of an inline output that is longer than `textBytesMax` is left out. */
  list(runId: string, textBytesMax?: number): Promise<Step[]>
  /** Of these runs, how many bytes the outputs have; runs without steps are not named. */
  bytesOf(runIds: string[]): Promise<Map<string, number>>
}
