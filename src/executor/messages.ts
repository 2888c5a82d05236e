/** What the worker and a pool child say to each other. `id` names the attempt; a message about any other attempt is stale. */

import type {
  AbortReason,
  AttemptError,
  AttemptInput,
  AttemptReports,
  CommittedStep,
  DoneStep,
  Outcome,
  StepState,
} from './executor.ts'

/** Given to a child as its only argument, as JSON. */
export type ChildSetup = {
  modules: string[]
  /** The folder that relative modules start from. */
  from: string
  memoryLimitMb: number
}

export type ToChild =
  | { type: 'run'; id: number; input: AttemptInput }
  | { type: 'abort'; id: number; reason: AbortReason }
  /** The answer to what the child asked for: the steps that are done, or that a step is kept, or why not. */
  | { type: 'answer'; id: number; request: number; done?: DoneStep[]; failure?: StepFailureRecord }
  | { type: 'end' }

export type FromChild =
  | { type: 'ready' }
  | { type: 'not-ready'; error: AttemptError }
  | { type: 'started'; id: number }
  | { type: 'progress'; id: number; value: unknown }
  | { type: 'cost'; id: number; amount: number }
  | { type: 'log'; id: number; level: LogLevel; message: string; fields?: Record<string, unknown> }
  | { type: 'steps-asked'; id: number; request: number }
  | { type: 'step'; id: number; request: number; step: Timed<CommittedStep> }
  | { type: 'step-states'; id: number; states: Timed<StepState>[] }
  /** `retire`: the child is in no state to run another attempt. */
  | { type: 'outcome'; id: number; outcome: Outcome; retire: boolean }

/** A step failure in a form that crosses the border. */
export type StepFailureRecord = { class: string; message: string; isFinal: boolean }

/** Messages are JSON, which has no dates. */
export type Timed<Of extends { startedAt: Date }> = Omit<Of, 'startedAt'> & { startedAtMs: number }

export type LogLevel = Parameters<AttemptReports['log']>[0]

/** The file descriptor of the lifeline: it closes with the worker, and the watchdog writes its last words to it. */
export const LIFELINE_FD = 4

/** The watchdog's last words, before it ends the process group for using too much memory. */
export type LastWords = { residentMb: number; limitMb: number }
