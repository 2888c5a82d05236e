/** The Postgres settings the embedded server starts with, each with its reason. A caller's own settings win over these. */

type Setting = { name: string; value: string; why: string }

export const EMBEDDED_SETTINGS: readonly Setting[] = [
  { name: 'fsync', value: 'on', why: 'an accepted run survives a power cut' },
  { name: 'synchronous_commit', value: 'on', why: 'an answer is sent only after its commit is on disk' },
  { name: 'shared_buffers', value: '256MB', why: 'holds the hot tables and indexes; still modest on a laptop' },
  { name: 'max_connections', value: '100', why: 'one service with several pools, and workers that join it' },
  { name: 'max_wal_size', value: '2GB', why: 'with the default of 1GB a drain at full speed forces checkpoints' },
  { name: 'checkpoint_timeout', value: '15min', why: 'fewer checkpoints, so fewer full page images after each' },
  { name: 'wal_compression', value: 'off', why: 'the shipped build offers pglz only, which costs more than it saves' },
  { name: 'autovacuum_naptime', value: '10s', why: 'queue tables gather dead rows quickly' },
  { name: 'autovacuum_vacuum_scale_factor', value: '0.02', why: 'vacuum before dead rows slow the claims' },
  { name: 'autovacuum_analyze_scale_factor', value: '0.05', why: 'keep estimates near the moving truth' },
  { name: 'autovacuum_vacuum_cost_limit', value: '2000', why: 'let a vacuum finish instead of trailing behind' },
  { name: 'jit', value: 'off', why: 'every statement is short; compiling one costs more than it saves' },
  { name: 'timezone', value: 'UTC', why: 'times in answers and logs do not depend on the machine' },
  { name: 'log_timezone', value: 'UTC', why: 'as timezone' },
  { name: 'log_checkpoints', value: 'off', why: 'routine lines would hide the ones that matter' },
  { name: 'logging_collector', value: 'off', why: 'log lines go to stderr and from there to our log' },
  { name: 'log_line_prefix', value: '[%p] ', why: 'our log adds the time itself' },
]

/** `-c name=value` arguments; what makes the server private (loopback, no socket files) cannot be overridden. */
export function settingArguments(port: number, overrides: Record<string, string>): string[] {
  const settings = new Map(EMBEDDED_SETTINGS.map(({ name, value }) => [name, value]))
  for (const [name, value] of Object.entries(overrides)) settings.set(name, value)
  settings.set('listen_addresses', '127.0.0.1')
  settings.set('unix_socket_directories', '')
  settings.set('port', String(port))
  return [...settings].flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
