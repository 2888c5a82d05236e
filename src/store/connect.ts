/**
 * Connections to Postgres. Each kind of work has its own pool, so that one cannot starve another.
 *
 * Hot statements are written for nested loops over index look-ups. `pinPlans` switches the other plan shapes off on
 * their connections: a generic plan made while a table was empty stays right when the table is full.
 */

import pg from 'pg'

export type ConnectOptions = {
  url: string
  /** Shown in pg_stat_activity. */
  name: string
  max?: number
  lockTimeoutMs?: number
  statementTimeoutMs?: number
  connectTimeoutMs?: number
  pinPlans?: boolean
  /** Statements are sent without waiting for the answers of those before them. */
  pipeline?: boolean
  /** More of the same kind, such as `enable_seqscan = off`. */
  settings?: readonly string[]
}

const PINNED = [
  'plan_cache_mode = force_generic_plan',
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'enable_bitmapscan = off',
]

const STATEMENT_TIMEOUT_MS = 30_000

const INT8_OID = 20

/** bigint columns hold only safe integers, so they arrive as numbers. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8_OID) return Number
    return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')
  },
} as pg.CustomTypesConfig

export function sessionSettings(options: ConnectOptions): string {
  const settings = [
    'search_path = holdfast, pg_catalog',
    `lock_timeout = ${options.lockTimeoutMs ?? 5_000}`,
    `statement_timeout = ${options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS}`,
    'idle_in_transaction_session_timeout = 30000',
    ...(options.pinPlans ? PINNED : []),
    ...(options.settings ?? []),
  ]
  return settings.map((setting) => `SET ${setting}`).join('; ')
}

function clientConfig(options: ConnectOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.name,
    keepAlive: true,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    // The server ends a slow statement; when even that is not heard, the line is dead and the pool drops the connection.
    query_timeout: 1.5 * (options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS),
    types,
    pipeline: options.pipeline ?? false,
  }
}

export function openPool(options: ConnectOptions): pg.Pool {
  const settings = sessionSettings(options)
  const pool = new pg.Pool({
    ...clientConfig(options),
    max: options.max ?? 4,
    idleTimeoutMillis: 0,
    // Runs before the pool hands a new connection out; a failure here is a failure to connect.
    onConnect: async (client: pg.ClientBase) => {
      await client.query(settings)
    },
  })
  // A connection that breaks is told of by the statements sent on it, and dropped by the pool when it is idle; without listeners it
  // would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

export async function openClient(options: ConnectOptions): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(options))
  client.on('error', () => {})
  await client.connect()
  await client.query(sessionSettings(options))
  return client
}

/** Drops a connection at once. A polite end would wait for an answer that a half-open socket never gives. */
export function abandon(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
