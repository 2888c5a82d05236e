/**
 * Submitting: from a checked body to a stored run, the same for every route that makes runs.
 *
 * Everything that can be refused is refused before anything is stored. After the commit the queue is hinted, once per queue and
 * call, and the run is counted and logged.
 */

import type { RunObject, SubmitAnswer } from '../contract/run.ts'
import type { SubmitBody } from '../contract/submit.ts'
import { isBlocked } from '../run/blocked.ts'
import { ERRORS, Refusal } from '../run/errors.ts'
import { takesFiles } from '../run/file-parameters.ts'
import { type Waiting, whyNewRunWaits } from '../run/waiting.ts'
import type { RunCosts } from '../store/ports/costs.ts'
import type { DescribedFile } from '../store/ports/files.ts'
import type { RunDetail, Submitted } from '../store/store.ts'
import { runFields } from '../telemetry/log.ts'
import type { ApiDeps } from './api.ts'
import { countQuotaRefusal } from './count-quota-refusal.ts'
import { withTrueValues } from './derived-parameters.ts'
import { createKnown, type Known } from './known.ts'
import { presentWarnings } from './present-quota.ts'
import { createPresentRun } from './present-run.ts'
import { redactOptionsOf } from './redact-options.ts'
import { resolveRun } from './resolve-run.ts'
import { type ArrivingFile, type ResolvedRun, withFiles } from './run-files.ts'
import { createRunIds } from './run-id.ts'
import type { SeeingSender } from './sender.ts'
import { findModelOrRefuse } from './unknown-model.ts'

export type SubmitRun = {
  known: Known
  nextRunId: () => string
  /** Checks a body and completes it; throws a Refusal. Nothing is stored. `arriving` is a file that comes with the run. */
  resolve(body: SubmitBody, sender: SeeingSender, arriving?: ArrivingFile): Promise<ResolvedRun>
  /** Stores a resolved run, or finds the one its name leads to; throws a Refusal. */
  store(run: ResolvedRun, requestId: string): Promise<Stored>
  /** The same for many in one transaction; what is refused is an answer, and its neighbours are stored all the same. */
  storeMany(runs: ResolvedRun[], requestId: string): Promise<(Stored | Refusal)[]>
  /** Counts, logs and hints runs that were stored in another way, such as with an upload. */
  announce(submitted: Submitted[], requestId: string): void
  /** What a route answers: of a new run what the request said, of an older one where it stands now. */
  answerOf(submitted: Stored): Promise<SubmitAnswer>
  /** The same without reading anything: of an older run neither attempts nor the reason for waiting, as in lists. */
  listedAnswerOf(submitted: Stored): SubmitAnswer
}

/** With the files and the cost of a new run, where it has any, and why it waits, where it is blocked. */
export type Stored = Submitted & { files?: DescribedFile[]; waiting?: Waiting; cost?: RunCosts }

export function createSubmitRun({ store, wakeup, metrics, log, config }: ApiDeps): SubmitRun {
  const nextRunId = createRunIds()
  const known = createKnown(store)
  const redaction = redactOptionsOf(config)
  const present = createPresentRun(redaction)

  /** A hint says that a queue has work, so one for each queue is enough. */
  function announce(submitted: Submitted[], requestId: string): void {
    const hinted = new Set<string>()
    for (const { run, idempotentHit, isHinted } of submitted) {
      const fields = { request_id: requestId, ...runFields({ ...run, runId: run.id, workerId: run.leaseOwner }) }
      log.info(fields, idempotentHit ? 'run matched' : 'run created')
      if (idempotentHit) continue
      metrics.runsCreated.inc()
      if (!isHinted && !hinted.has(run.queue)) wakeup.hint(`queue:${run.queue}`, run.id)
      hinted.add(run.queue)
    }
    tellReplaced(submitted.filter(isBlockedNew).map(({ run }) => run.id))
  }

  /** Runs that were asked to stop in favour of new ones: their workers would learn it with their next heartbeat. */
  function tellReplaced(runIds: string[]): void {
    if (runIds.length === 0) return
    const told = store.blocks.stoppedFor(runIds).then((stopped) => {
      for (const { holder, runId } of stopped) wakeup.hint(`worker:${holder}`, runId)
    })
    told.catch((error) => log.warn({ err: error }, 'workers of replaced runs not told'))
  }

  /** Whoever ends runs need not look for those with keys as long as no request asks for one. */
  function tellOfKeys(answers: (Submitted | Refusal)[], runs: ResolvedRun[]): void {
    const index = answers.findIndex(
      (answer, at) => isAccepted(answer) && !answer.idempotentHit && runs[at]!.concurrency?.isAsked,
    )
    if (index >= 0) wakeup.hint('keys', runs[index]!.id)
  }

  /** What a blocked run waits for is not in the answer of the store. One that is not blocked any more may start. */
  async function withReasons(answers: (Stored | Refusal)[], seesAll?: true): Promise<(Stored | Refusal)[]> {
    const blocked = answers.filter((answer): answer is Stored => isAccepted(answer) && isBlockedNew(answer))
    if (blocked.length === 0) return answers
    const ids = blocked.map(({ run }) => run.id)
    const waiting = await store.blocks.waitingOf(ids, seesAll ? null : blocked[0]!.run.owner).catch(() => null)
    if (!waiting) return answers
    return answers.map((answer) => {
      if (!isAccepted(answer) || !isBlockedNew(answer)) return answer
      const reason = waiting.get(answer.run.id)
      if (reason) return { ...answer, waiting: reason }
      return { ...answer, run: { ...answer.run, availableAt: answer.run.createdAt } }
    })
  }

  return {
    known,
    nextRunId,
    announce,
    async resolve(asked, sender, arriving) {
      const body = asked.derived_from ? await withTrueValues(asked, { store, sees: sender.sees, redaction }) : asked
      const model = await findModelOrRefuse(body, known, store)
      const around = { model, queues: await known.queues(), config, nowMs: Date.now() }
      const run = resolveRun(nextRunId(), body, sender, around)
      return takesFiles(model) ? withFiles(run, { model, files: store.files, arriving }) : (run as ResolvedRun)
    },
    async store(run, requestId) {
      const submitted = await store.submit(run)
      if (submitted instanceof Refusal) throw countQuotaRefusal(metrics, submitted)
      announce([submitted], requestId)
      if (run.concurrency) tellOfKeys([submitted], [run])
      const [stored] = await withReasons([withOwn(submitted, run)], run.seesAll)
      return stored as Stored
    },
    async storeMany(runs, requestId) {
      const answers = await store.submitMany(runs)
      announce(answers.filter(isAccepted), requestId)
      tellOfKeys(answers, runs)
      for (const answer of answers) {
        if (isAccepted(answer)) continue
        countQuotaRefusal(metrics, answer)
        if (ERRORS[answer.code].status < 500) continue
        log.error({ request_id: requestId, code: answer.code, err: answer }, 'run of a batch not stored')
      }
      const stored = answers.map((answer, index) => (isAccepted(answer) ? withOwn(answer, runs[index]!) : answer))
      return withReasons(stored, runs[0]?.seesAll)
    },
    async answerOf(stored) {
      const older = stored.idempotentHit ? await store.readRun(stored.run.id) : null
      return asAnswer(present.detail(older ?? detailOfNew(stored)), stored)
    },
    listedAnswerOf(stored) {
      return asAnswer(stored.idempotentHit ? present.listed(stored.run) : present.detail(detailOfNew(stored)), stored)
    },
  }
}

/** Nobody else has seen `shown` yet: it is completed in place, since copying it costs as much as making it. */
function asAnswer(shown: RunObject, { idempotentHit, warnings }: Stored): SubmitAnswer {
  return Object.assign(shown, { idempotent_hit: idempotentHit }, presentWarnings(warnings))
}

function isAccepted(answer: Submitted | Refusal): answer is Submitted {
  return !(answer instanceof Refusal)
}

function isBlockedNew({ run, idempotentHit }: Submitted): boolean {
  return !idempotentHit && isBlocked(run)
}

/** What the request says of a new run beside what the store answers. */
function withOwn(submitted: Submitted, { files, cost }: ResolvedRun): Stored {
  if (!files && !cost) return submitted
  return {
    ...submitted,
    ...(files && { files }),
    ...(cost && { cost: { state: 'HELD', held: cost.estimate, settled: 0, currency: cost.currency } }),
  }
}

type NewStored = Pick<Stored, 'run' | 'files' | 'waiting' | 'cost'>

function detailOfNew({ run, files = [], waiting, cost }: NewStored): RunDetail {
  const isPlain = run.status === 'PENDING' && !isBlocked(run)
  return { run, attempts: [], waiting: isPlain ? whyNewRunWaits(run) : (waiting ?? null), files, cost: cost ?? null }
}
