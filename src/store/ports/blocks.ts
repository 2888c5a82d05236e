/**
 * The port to runs that may not start until something other than time happens: those that wait for an operator's approval and those that
 * wait for a place of their concurrency key.
 */

import type { AskedKey } from '../../run/runs-per-key.ts'
import type { Waiting } from '../../run/waiting.ts'
import type { Run } from '../store.ts'
import type { Actor } from './audit.ts'

/** `sees`: whose runs there are for the operator, null for everyone's. */
export type Decision = { runId: string; actor: Actor; reason: string | null; sees: string | null }

/** `done`: also when the same had been decided before. `freed`: runs that may start now. */
export type Decided =
  | { outcome: 'done'; run: Run; freed: FreedRun[]; stopped: StoppedRun[] }
  | { outcome: 'not-waiting'; run: Run }
  | { outcome: 'finished'; run: Run }
  | { outcome: 'not-found' }

export type FreedRun = { runId: string; queue: string }

/** A RUNNING run that was asked to stop, with the worker that has it. */
export type StoppedRun = { runId: string; holder: string }

export interface Blocks {
  /** Lets a run go that waits for approval: at once, at the time it asked for, or into the line of its concurrency key. */
  approve(decision: Decision): Promise<Decided>
  /** Cancels a run that waits for approval. */
  reject(decision: Decision): Promise<Decided>
  /** Gives freed places of up to so many keys to the runs in line. `more`: there may be further keys; false when there was none. */
  promote(keysMax: number): Promise<{ freed: FreedRun[]; stopped: StoppedRun[]; more: boolean }>
  /** The same for the places that these runs held, those of them that have ended. */
  promoteAfter(runIds: string[]): Promise<{ freed: FreedRun[]; stopped: StoppedRun[] }>
  /** Whether this process has heard of runs with concurrency keys of late; where there are none, nobody need ask about runs that end. */
  readonly areKeysInUse: boolean
  /** The key that the request of a run asked for; null when it was none. */
  askedKey(runId: string): Promise<AskedKey | null>
  /** Which RUNNING runs new runs of their keys wait to see stopped. */
  stoppedFor(runIds: string[]): Promise<StoppedRun[]>
  /** Why blocked runs wait, by id; others are left out. Runs of the owner `sees` may be named as holders, null for everyone's. */
  waitingOf(runIds: string[], sees: string | null): Promise<Map<string, Waiting>>
}
