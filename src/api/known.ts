/**
 * Short-lived copies of what hardly ever changes: registered models and queues. A submit must not read them from the
 * database each time.
 *
 * A copy is used for a second, then read again; what was not found is asked anew each time. Callers that need the
 * same thing while it is being read share the reading.
 */

import type { QueueState, RegisteredModel, Store } from '../store/store.ts'

const KEPT_MS = 1_000
const KEPT_MAX = 1_000

export type Known = {
  model(name: string, version: string | null): Promise<RegisteredModel | null> | RegisteredModel
  queues(): Promise<Map<string, QueueState>> | Map<string, QueueState>
}

export function createKnown(store: Store, nowMs: () => number = () => performance.now()): Known {
  const models = keptFor<RegisteredModel | null>(nowMs)
  const queues = keptFor<Map<string, QueueState>>(nowMs)
  return {
    model: (name, version) =>
      models(version === null ? name : `${name}\0${version}`, () => store.findModel(name, version)) as ReturnType<
        Known['model']
      >,
    queues: () => queues('', async () => new Map((await store.readQueues()).map((state) => [state.queue, state]))),
  }
}

type Read<Value> = (key: string, load: () => Promise<Value>) => Promise<Value> | Value

function keptFor<Value>(nowMs: () => number): Read<Value> {
  const kept = new Map<string, { value: Value; untilMs: number }>()
  const loading = new Map<string, Promise<Value>>()
  return (key, load) => {
    const found = kept.get(key)
    if (found !== undefined && nowMs() < found.untilMs) return found.value
    const underWay = loading.get(key)
    if (underWay !== undefined) return underWay
    const started = load()
      .then((value) => {
        if (kept.size >= KEPT_MAX) kept.clear()
        if (value === null) kept.delete(key)
        else kept.set(key, { value, untilMs: nowMs() + KEPT_MS })
        return value
      })
      .finally(() => loading.delete(key))
    loading.set(key, started)
    return started
  }
}
