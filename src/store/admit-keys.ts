/**
 * The part of admission that knows concurrency keys, and that writes why runs are blocked, whoever blocked them.
 *
 * A run that waits for approval neither has a place of its key nor stands in line for one: it joins the line when it is approved. So does,
 * when its time comes, a run that asked for a later start. What a new run replaces is cancelled after it was created, so that a run
 * whose name was taken replaces nothing; then places are given away, and the new run starts at once where there is one.
 */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import { placeFor, type RunKey } from '../run/runs-per-key.ts'
import type { ApprovalRule } from '../run/waiting.ts'
import type { AdmissionPart, AdmittedRun, Judge, Verdict } from './admit.ts'
import { recordAskedKeys } from './asked-keys.ts'
import {
  insertBlocks,
  insertHolds,
  type KeyUseRow,
  keyLockName,
  type NewBlock,
  type NewHold,
  readKeyUse,
} from './key-places.ts'
import { cancelOlderAll, promoteKeys } from './promote-keys.ts'
import type { NewRun } from './store.ts'

export const keysPart: AdmissionPart = {
  name: 'keys',
  concerns: ({ concurrency }) => concurrency !== undefined,
  locks: ({ concurrency }) => (concurrency ? [keyLockName(concurrency)] : []),
  async read(client, { runs }) {
    const keys = new Map<string, RunKey & { seer: string | null }>()
    for (const run of runs) {
      const { concurrency } = run
      if (concurrency) keys.set(useName(concurrency, seerOf(run)), { ...concurrency, seer: seerOf(run) })
    }
    const rows = keys.size > 0 ? await readKeyUse(client, [...keys.values()]) : []
    return new KeyJudge(new Map([...keys.keys()].map((name, index) => [name, rows[index]!])))
  },
}

/** Who asks is part of it: everyone sees holders of its own. */
function useName({ owner, key }: RunKey, seer: string | null): string {
  return JSON.stringify([owner, key, seer])
}

/** Whose runs may be named to who asks; null for everyone's. */
function seerOf({ owner, seesAll }: NewRun): string | null {
  return seesAll ? null : owner
}

class KeyJudge implements Judge {
  readonly #uses: Map<string, KeyUseRow>

  constructor(uses: Map<string, KeyUseRow>) {
    this.#uses = uses
  }

  decide(run: NewRun, admitted: AdmittedRun): Verdict {
    const { concurrency } = run
    if (!concurrency || waitsForApproval(admitted)) return { admit: true }
    if (this.#isLater(run)) return blocked
    const use = this.#useOf(run)
    const place = placeFor(concurrency, use)
    if (place === 'refuse') return { refuse: keyInUse(concurrency, use) }
    return place === 'wait' ? blocked : { admit: true }
  }

  take(admitted: AdmittedRun): void {
    const { run } = admitted
    if (!run.concurrency || waitsForApproval(admitted) || this.#isLater(run)) return
    const isWaiting = waitsForPlace(admitted)
    for (const use of this.#uses.values()) {
      if (use.owner !== run.concurrency.owner || use.key !== run.concurrency.key) continue
      if (isWaiting) use.waiting += 1
      else use.active += 1
    }
  }

  async write(client: pg.ClientBase, created: AdmittedRun[]): Promise<undefined> {
    const holds = created.flatMap((admitted) => this.#holdOf(admitted))
    const blocks = created.flatMap(blockOf)
    await recordAskedKeys(
      client,
      created.map(({ run }) => run),
    )
    if (holds.length > 0) await insertHolds(client, holds)
    if (blocks.length > 0) await insertBlocks(client, blocks)
    const waiting = holds.filter(({ state }) => state === 'waiting')
    await cancelOlderAll(
      client,
      waiting.filter(({ mode }) => mode === 'cancel_older'),
    )
    if (waiting.length > 0) await promoteKeys(client, onePerKey(waiting))
    return undefined
  }

  #holdOf(admitted: AdmittedRun): NewHold[] {
    const { run } = admitted
    if (!run.concurrency || waitsForApproval(admitted)) return []
    const isLater = this.#isLater(run)
    const state = isLater ? 'scheduled' : waitsForPlace(admitted) ? 'waiting' : 'held'
    const arrivesAt = isLater ? run.availableAt : null
    return [{ ...run.concurrency, runId: run.id, priority: run.priority, state, arrivesAt }]
  }

  #useOf(run: NewRun): KeyUseRow {
    return this.#uses.get(useName(run.concurrency!, seerOf(run)))!
  }

  /** By the database's clock, and the same whenever it is asked. */
  #isLater(run: NewRun): boolean {
    return run.availableAt !== null && Date.parse(run.availableAt) > this.#useOf(run).now_ms
  }
}

const blocked: Verdict = { admit: true, blocks: [{ reason: 'concurrency', detail: {} }] }

function waitsForApproval({ blocks }: AdmittedRun): boolean {
  return blocks.some(({ reason }) => reason === 'approval')
}

function waitsForPlace({ blocks }: AdmittedRun): boolean {
  return blocks.some(({ reason }) => reason === 'concurrency')
}

/** Approval comes first. What the run asks of its key is kept until then. */
function blockOf({ run, blocks }: AdmittedRun): NewBlock[] {
  const block = blocks.find(({ reason }) => reason === 'approval') ?? blocks[0]
  if (!block) return []
  const key = block.reason === 'approval' && run.concurrency ? { key: run.concurrency } : {}
  const detail = block.reason === 'approval' ? { rule: ruleOf(block.detail), ...key } : {}
  return [{ runId: run.id, reason: block.reason, detail, startAt: run.availableAt }]
}

/** Whoever asks for approval says which limit, in the words of its refusals. */
function ruleOf({ rule, limit, maximum, used }: Record<string, unknown>): ApprovalRule {
  const { owner, model, together } = rule as ApprovalRule
  return { owner, model, together, limit, maximum, used } as ApprovalRule
}

function onePerKey<Named extends { owner: string; key: string }>(named: readonly Named[]): Named[] {
  return [...new Map(named.map((one) => [keyLockName(one), one])).values()]
}

function keyInUse({ key, limit }: RunKey, { active, waiting, holders }: KeyUseRow): Refusal {
  const detail = `The concurrency key ${key} allows ${limit === 1 ? 'one active run' : `${limit} active runs`} at a time.`
  return new Refusal('concurrency-limit', detail, { extra: { key, maximum: limit, used: active + waiting, holders } })
}
