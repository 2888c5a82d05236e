/**
 * What there is besides runs: one thin, typed call per route. Lists are iterators over all pages.
 *
 * What makes something new without a key (a token, a view, a bulk operation) is sent again only when the service said that it was not
 * done: after a lost reply nobody knows, and the caller decides.
 */

import { keyHeader, newKey } from './idempotency-key.ts'
import { pages, type RunFilter } from './list.ts'
import { type Content, type Method, receiversOf } from './receivers.ts'
import type { CallOptions, Query, Transport } from './transport.ts'
import type { AuditEvent, NewToken, Session, Token, TokenBody } from './wire-access.ts'
import type { ModelBody, ModelInfo, Queue, QueueBody, Worker, WorkerState } from './wire-directory.ts'
import type {
  BulkAction,
  BulkCount,
  BulkItem,
  BulkOperation,
  BulkOutcome,
  FailureGroup,
  ListOrder,
  Stats,
  StatsQuery,
  View,
} from './wire-operations.ts'
import type { NewReservation, Quota, QuotaBody, QuotaRule, Reservation, ReservationState } from './wire-quotas.ts'

export type BulkRequest = { action: BulkAction; filter: RunFilter }
export type ViewRequest = { name: string; filter: RunFilter; order?: ListOrder; shared?: boolean }

export type QuotaWhich = CallOptions & { model?: string; together?: boolean }
export type ReservationRequest = CallOptions & { ttlSeconds?: number; cost?: number; model?: string }

export type Resources = ReturnType<typeof resourcesOf>

export function resourcesOf(transport: Transport) {
  const call = async <Got>(method: Method, path: string, content: Content, { signal, timeoutMs }: CallOptions = {}) => {
    const answer = await transport.send({ method, path, repeat: 'always', signal, timeoutMs, ...content })
    return answer.body as Got
  }
  const all = <Item>(path: string, query: Query = {}, options?: CallOptions) =>
    pages<Item>(transport, path, query, options)
  const at = (...names: string[]) => `/${names.map(encodeURIComponent).join('/')}`
  const once = 'refused'

  return {
    models: {
      list: (options?: CallOptions) => all<ModelInfo>('/models', {}, options),
      get: (name: string, { version, ...options }: CallOptions & { version?: string } = {}) =>
        call<ModelInfo>('GET', at('models', name), { query: { version } }, options),
      /** For remote workers. The same again changes nothing. */
      register: (name: string, version: string, model: ModelBody, options?: CallOptions) =>
        call<ModelInfo>('PUT', at('models', name, version), { body: model }, options),
    },
    queues: {
      list: (options?: CallOptions) => all<Queue>('/queues', {}, options),
      get: (queue: string, options?: CallOptions) => call<Queue>('GET', at('queues', queue), {}, options),
      /** Fair share among owners, and their weights. */
      set: (queue: string, settings: QueueBody, options?: CallOptions) =>
        call<Queue>('PUT', at('queues', queue), { body: settings }, options),
      pause: (queue: string, options?: CallOptions) => call<Queue>('POST', at('queues', queue, 'pause'), {}, options),
      resume: (queue: string, options?: CallOptions) => call<Queue>('POST', at('queues', queue, 'resume'), {}, options),
    },
    workers: {
      list: ({ state, ...options }: CallOptions & { state?: WorkerState } = {}) =>
        all<Worker>('/workers', { state }, options),
    },
    /** Cancel or retry everything that a filter matches. */
    bulk: {
      count: (request: BulkRequest, options?: CallOptions) =>
        call<BulkCount>('POST', '/bulk', { body: { ...request, dry_run: true } }, options),
      start: (request: BulkRequest, options?: CallOptions) =>
        call<BulkOperation>('POST', '/bulk', { body: request, repeat: once }, options),
      list: (options?: CallOptions) => all<BulkOperation>('/bulk', {}, options),
      get: (operationId: string, options?: CallOptions) =>
        call<BulkOperation>('GET', at('bulk', operationId), {}, options),
      items: (operationId: string, { outcome, ...options }: CallOptions & { outcome?: BulkOutcome } = {}) =>
        all<BulkItem>(at('bulk', operationId, 'items'), { outcome }, options),
      cancel: (operationId: string, options?: CallOptions) =>
        call<BulkOperation>('POST', at('bulk', operationId, 'cancel'), {}, options),
    },
    /** Failed runs by model and error class. */
    failures: ({ model, ...options }: CallOptions & { model?: string } = {}) =>
      all<FailureGroup>('/failures', { model }, options),
    stats: (query: StatsQuery = {}, options?: CallOptions) => call<Stats>('GET', '/stats', { query }, options),
    views: {
      create: (view: ViewRequest, options?: CallOptions) =>
        call<View>('POST', '/views', { body: view, repeat: once }, options),
      list: (options?: CallOptions) => all<View>('/views', {}, options),
      get: (viewId: string, options?: CallOptions) => call<View>('GET', at('views', viewId), {}, options),
      replace: (viewId: string, view: ViewRequest, options?: CallOptions) =>
        call<View>('PUT', at('views', viewId), { body: view }, options),
      remove: (viewId: string, options?: CallOptions) =>
        call<null>('DELETE', at('views', viewId), { repeat: once }, options),
    },
    tokens: {
      create: (token: TokenBody, options?: CallOptions) =>
        call<NewToken>('POST', '/tokens', { body: token, repeat: once }, options),
      list: (options?: CallOptions) => all<Token>('/tokens', {}, options),
      revoke: (tokenId: string, options?: CallOptions) => call<Token>('DELETE', at('tokens', tokenId), {}, options),
    },
    /** Of an owner, or of everyone (`*`); `model` narrows a rule to one model, `together` counts all owners as one. */
    quotas: {
      list: ({ owner, ...options }: CallOptions & { owner?: string } = {}) =>
        all<QuotaRule>('/quotas', { owner }, options),
      /** With how much is used and by what. */
      get: (owner: string, which: QuotaWhich = {}) => {
        const { query, options } = quotaCall(which)
        return call<Quota>('GET', at('quotas', owner), { query }, options)
      },
      /** Replaces the rule: a limit that is not given is none. */
      put: (owner: string, limits: QuotaBody, which: QuotaWhich = {}) => {
        const { query, options } = quotaCall(which)
        return call<QuotaRule>('PUT', at('quotas', owner), { query, body: limits }, options)
      },
      delete: (owner: string, which: QuotaWhich = {}) => {
        const { query, options } = quotaCall(which)
        return call<null>('DELETE', at('quotas', owner), { query, repeat: once }, options)
      },
    },
    /** A place within a quota, held before there is a run: for uploads and preparations that take their time. */
    reservations: {
      /** QuotaExceeded when there is no place. Each call has a key of its own, so that sent again it holds one place. */
      create: ({ ttlSeconds, cost, model, ...options }: ReservationRequest = {}) =>
        call<NewReservation>(
          'POST',
          '/reservations',
          { body: { ttl_seconds: ttlSeconds, cost, model }, headers: keyHeader(newKey()) },
          options,
        ),
      get: (reservationId: string, options?: CallOptions) =>
        call<Reservation>('GET', at('reservations', reservationId), {}, options),
      list: ({ owner, state, ...options }: CallOptions & { owner?: string; state?: ReservationState } = {}) =>
        all<Reservation>('/reservations', { owner, state }, options),
      /** Gives the place back at once; doing it again changes nothing. */
      release: (reservationId: string, options?: CallOptions) =>
        call<Reservation>('DELETE', at('reservations', reservationId), {}, options),
    },
    ...receiversOf({ call, all, at }),
    audit: (options?: CallOptions) => all<AuditEvent>('/audit', {}, options),
    /** For people in a browser: a token once, a cookie from then on. */
    session: {
      get: (options?: CallOptions) => call<Session>('GET', '/session', {}, options),
      start: (token: string, options?: CallOptions) => call<Session>('POST', '/session', { body: { token } }, options),
      end: (options?: CallOptions) => call<null>('DELETE', '/session', {}, options),
    },
  }
}

function quotaCall({ model, together, ...options }: QuotaWhich): { query: Query; options: CallOptions } {
  return { query: { model, ...(together && { together }) }, options }
}
