/**
 * The port to finding runs: pages of those that fit a filter, and failed runs grouped by what broke them.
 *
 * What a page costs does not grow with history. It may be short, or even empty, while `nextCursor` is not null: the store looks at a
 * bounded number of runs per page and goes on from there in the next one. A list is over when `nextCursor` is null.
 */

import type { Area } from '../../run/area.ts'
import type { BlockReason } from '../../run/blocked.ts'
import type { Place } from '../../run/facets.ts'
import type { RunStatus } from '../../run/status.ts'
import type { RunPage } from '../store.ts'

/** `is`: one of these, null for whatever. `not`: none of these. */
export type Match<Value extends string = string> = { is: readonly Value[] | null; not: readonly Value[] }

export type RunFilter = {
  /** The only owner whose runs may be seen, whatever the rest asks for; null for everyone's. */
  sees: string | null
  status: Match<RunStatus>
  model: Match
  modelVersion: Match
  owner: Match
  queue: Match
  /** A run with at least one of `is` and none of `not`. */
  tag: Match
  batchId: Match
  /** The class of the last error; runs without one fit every `not`. */
  errorClass: Match
  /** ISO 8601: created at that moment or later. */
  createdAfter: string | null
  /** ISO 8601: created before that moment. */
  createdBefore: string | null
  /** The beginning of the title (whatever its case), of the run id or of the error class. */
  text: string | null
  /** None of the three begins like this. */
  notText: string | null
  /**
   * Facets as `name:value`. Values of one facet mean any of them, different facets all of them; a run with none of `not`, as those without
   * facets have.
   */
  facet: Match
  /** A place of the run lies in each of them. */
  areas: readonly Area[]
  /** Whether the present attempt is taking longer than three times the expected duration; null for whatever. */
  overdue: boolean | null
  /** What a blocked run waits for. */
  waiting: Match<BlockReason>
}

const whatever = { is: null, not: [] } as const

/** The filter that every run fits; spread it and say what is wanted. */
export const EVERY_RUN: RunFilter = {
  sees: null,
  status: whatever,
  model: whatever,
  modelVersion: whatever,
  owner: whatever,
  queue: whatever,
  tag: whatever,
  batchId: whatever,
  errorClass: whatever,
  createdAfter: null,
  createdBefore: null,
  text: null,
  notText: null,
  facet: whatever,
  areas: [],
  overdue: null,
  waiting: whatever,
}

export type RunOrder = 'created_at_desc' | 'created_at_asc'

/** A cursor goes on with the filter and the order it came from, and with no other: a refusal `invalid-query`. */
export type PageRequest = { limit: number; cursor: string | null; order: RunOrder }

/** Failed runs of one model, or of all, grouped by model and error class. */
export type FailuresRequest = { model: string | null; sees: string | null; limit: number; cursor: string | null }

export type FailureGroup = {
  model: string
  errorClass: string
  /** Counted up to a bound: with `countCapped` there are at least so many (of one owner: so many among the newest). */
  count: number
  countCapped: boolean
  /** When the newest and the oldest of them were created. */
  newestAt: Date
  oldestAt: Date
  /** The newest one, and how its error message begins. */
  example: { runId: string; message: string }
}

export type FailuresPage = { groups: FailureGroup[]; nextCursor: string | null }

export type Retry = { runId: string; status: RunStatus; createdAt: Date }

export interface Search {
  page(filter: RunFilter, page: PageRequest): Promise<RunPage>
  failures(request: FailuresRequest): Promise<FailuresPage>
  /** The places that the result of a run names, in its order. */
  places(runId: string): Promise<Place[]>
  /** The runs that retry it, newest first. */
  retries(runId: string): Promise<Retry[]>
}
