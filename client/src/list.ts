/** Lists, page by page. A page may be short or even empty and still not be the last: only a missing cursor ends a list. */

import type { CallOptions, Query, Transport } from './transport.ts'
import type { Page, Run, RunStatus } from './wire.ts'

/** The largest page: fewer requests for those who read everything. */
const PAGE_SIZE = 200

type OneOrMore<Value> = Value | readonly Value[]

/** Several values of a name mean any of them, different names all of them; `not_…` means none of its values. */
export type RunFilter = {
  status?: OneOrMore<RunStatus>
  not_status?: OneOrMore<RunStatus>
  model?: OneOrMore<string>
  not_model?: OneOrMore<string>
  model_version?: OneOrMore<string>
  not_model_version?: OneOrMore<string>
  owner?: OneOrMore<string>
  not_owner?: OneOrMore<string>
  queue?: OneOrMore<string>
  not_queue?: OneOrMore<string>
  tag?: OneOrMore<string>
  not_tag?: OneOrMore<string>
  batch_id?: OneOrMore<string>
  not_batch_id?: OneOrMore<string>
  error_class?: OneOrMore<string>
  not_error_class?: OneOrMore<string>
  /** At that moment or later. */
  created_after?: string
  /** Before that moment. */
  created_before?: string
  /** The beginning of the title, of the run id or of the error class. */
  text?: string
  not_text?: string
  /** `name:value` of the result. Values of one facet mean any of them, different facets all of them. */
  facet?: OneOrMore<string>
  not_facet?: OneOrMore<string>
  /** `latitude,longitude,km`: the result has a place that near. */
  near?: string
  /** `south,west,north,east`: the result has a place in there. */
  bbox?: string
  /** Running for more than three times the expected duration, or not. */
  overdue?: boolean
  /** What blocked runs wait for. */
  waiting?: OneOrMore<'approval' | 'concurrency'>
}

/** Names whose values are taken as they are; in those of all others a comma parts two values. */
const WHOLE = new Set(['created_after', 'created_before', 'text', 'not_text', 'near', 'bbox'])

export function filterQuery(filter: RunFilter): Query {
  const escaped = (value: string) => value.replaceAll(',', '\\,')
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]: [string, OneOrMore<string> | boolean | undefined]) => {
      if (value === undefined || typeof value === 'boolean' || WHOLE.has(name)) return [name, value]
      return [name, typeof value === 'string' ? escaped(value) : value.map(escaped)]
    }),
  )
}

export async function* pages<Item>(
  transport: Transport,
  path: string,
  query: Query,
  options: CallOptions = {},
): AsyncGenerator<Item, void, void> {
  let cursor: string | null = null
  do {
    const asked: Query = { limit: PAGE_SIZE, ...query, cursor }
    const { body } = await transport.send({ method: 'GET', path, query: asked, repeat: 'always', ...options })
    const page = body as Page<Item>
    yield* page.data
    cursor = page.next_cursor
  } while (cursor !== null)
}

export function listRuns(
  transport: Transport,
  filter: RunFilter & { order?: string },
  options: CallOptions,
): AsyncGenerator<Run, void, void> {
  return pages<Run>(transport, '/runs', filterQuery(filter), options)
}

export type RunPageOptions = CallOptions & { order?: string; cursor?: string | null; limit?: number }

/** One page: for those who show one and fetch the next when it is asked for. */
export async function runPage(
  transport: Transport,
  filter: RunFilter,
  { order, cursor, limit, ...options }: RunPageOptions,
): Promise<Page<Run>> {
  const query: Query = { ...filterQuery(filter), order, cursor, limit }
  const { body } = await transport.send({ method: 'GET', path: '/runs', query, repeat: 'always', ...options })
  return body as Page<Run>
}
