/**
 * A relay, wired: what `holdfast relay` runs alone and `holdfast start` beside its API. It needs the database and nothing else of ours, neither
 * large values nor wake-ups. Part of `compose.ts`, in a file of its own because a process without a relay loads none of it.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { createSenders } from './compose-senders.ts'
import type { Config } from './config/config.ts'
import { Relay } from './delivery/relay.ts'
import { openStore } from './store/open-store.ts'
import type { Store } from './store/store.ts'
import type { Log } from './telemetry/log.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'

export type RelayParts = { config: Config; log: Log; metrics: Metrics; store: Store }

export function openRelayParts(config: Config, databaseUrl: string, log: Log): RelayParts {
  const { poolMax } = config.database
  const store = openStore({ url: databaseUrl, poolMax, name: 'holdfast relay', spread: config.outbox })
  return { config, log, metrics: createMetrics(), store }
}

export async function createRelay({ config, log, metrics, store }: RelayParts): Promise<Relay> {
  const { probe: _probe, ...settings } = config.relay
  return new Relay({
    id: `relay:${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    store,
    senders: await createSenders({ config, log, store }),
    settings,
    log,
    metrics,
  })
}
