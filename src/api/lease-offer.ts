/**
 * What a remote worker may take: the versions of the models it names that are registered, and the queues it names, or
 * those that the models name, as far as its token is good for them. What it names and may not have, or what does not
 * exist, is refused.
 */

import type { LeaseBody } from '../contract/lease.ts'
import { Refusal } from '../run/errors.ts'
import type { OfferedVersion } from '../store/ports/remote.ts'
import type { Store } from '../store/store.ts'
import type { Principal } from './principal.ts'
import { unknownModel, unknownVersion } from './unknown-model.ts'

export type Offer = { queues: string[]; models: { model: string; version: string; room: number | null }[] }

const KEPT_MS = 1_000
const KEPT_MAX = 1_000

type Asked = Pick<LeaseBody, 'models' | 'queues'>

/** Workers ask often and always for the same, so what is registered may be a second old. */
export function createLeaseOffers(
  store: Pick<Store, 'remote' | 'listModelNames'>,
  nowMs: () => number = () => performance.now(),
): (body: Asked, principal: Principal) => Promise<Offer> {
  const kept = new Map<string, { versions: OfferedVersion[]; untilMs: number }>()

  async function versionsOf(names: string[]): Promise<OfferedVersion[]> {
    const key = JSON.stringify(names)
    const found = kept.get(key)
    if (found && nowMs() < found.untilMs) return found.versions
    const versions = await store.remote.versions(names)
    if (kept.size >= KEPT_MAX) kept.clear()
    // What is missing is looked for again at once: it may be about to be registered.
    if (names.every((name) => versions.some(({ model }) => model === name))) {
      kept.set(key, { versions, untilMs: nowMs() + KEPT_MS })
    }
    return versions
  }

  return async (body, principal) => {
    const asked = body.models.map(nameAndVersion)
    const names = [...new Set(asked.map(({ name }) => name))].sort()
    const registered = await versionsOf(names)
    const offered = new Map<string, OfferedVersion>()
    for (const [index, one] of asked.entries()) {
      const versions = registered.filter(({ model }) => model === one.name)
      if (versions.length === 0) throw at(index, unknownModel(one.name, await store.listModelNames()))
      const wanted = versions.filter(({ version }) => one.version === null || version === one.version)
      if (wanted.length === 0) {
        const newest = versions.at(-1)!.version
        throw at(index, unknownVersion({ model: one.name, model_version: one.version }, newest))
      }
      for (const version of wanted) offered.set(`${version.model}@${version.version}`, version)
    }
    const models = [...offered.values()]
    return {
      queues: allowedQueues(body.queues ?? null, models, principal),
      models: models.map(({ model, version, concurrency }) => ({ model, version, room: concurrency })),
    }
  }
}

/** A name may hold an @ itself; what follows the last one is the version. */
function nameAndVersion(text: string): { name: string; version: string | null } {
  const place = text.lastIndexOf('@')
  return place <= 0 ? { name: text, version: null } : { name: text.slice(0, place), version: text.slice(place + 1) }
}

function allowedQueues(asked: string[] | null, models: OfferedVersion[], { queues: allowed }: Principal): string[] {
  const wanted = [...new Set(asked ?? models.map(({ queue }) => queue))].sort()
  if (!allowed) return wanted
  const may = wanted.filter((queue) => allowed.includes(queue))
  if (may.length > 0 && (asked === null || may.length === wanted.length)) return may
  const beyond = wanted.filter((queue) => !allowed.includes(queue))
  throw new Refusal(
    'forbidden',
    `This token takes runs from ${allowed.join(', ')} only, not from ${beyond.join(', ')}.`,
    { extra: { allowed_queues: allowed } },
  )
}

function at(index: number, { code, detail, extra, errors }: Refusal): Refusal {
  const moved = errors?.map((error) => ({ ...error, pointer: `/models/${index}` }))
  return new Refusal(code, detail, { ...(moved && { errors: moved }), ...(extra && { extra }) })
}
