/**
 * Submitting: from a checked body to a stored run, the same for every route that makes runs.
 *
 * Everything that can be refused is refused before anything is stored. After the commit the queue is hinted, once per queue and
 * call, and the run is counted and logged.
 */

import type { SubmitAnswer } from '../contract/run.ts'
import type { SubmitBody } from '../contract/submit.ts'
import { ERRORS, Refusal } from '../run/errors.ts'
import { takesFiles } from '../run/file-parameters.ts'
import { whyNewRunWaits } from '../run/waiting.ts'
import type { DescribedFile } from '../store/ports/files.ts'
import type { Run, RunDetail, Submitted } from '../store/store.ts'
import { runFields } from '../telemetry/log.ts'
import type { ApiDeps } from './api.ts'
import { withTrueValues } from './derived-parameters.ts'
import { createKnown, type Known } from './known.ts'
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

/** With the files of a new run, where it has any. */
export type Stored = Submitted & { files?: DescribedFile[] }

export function createSubmitRun({ store, wakeup, metrics, log, config }: ApiDeps): SubmitRun {
  const nextRunId = createRunIds()
  const known = createKnown(store)
  const redaction = redactOptionsOf(config)
  const present = createPresentRun(redaction)

  /** A hint says that a queue has work, so one for each queue is enough. */
  function announce(submitted: Submitted[], requestId: string): void {
    const hinted = new Set<string>()
    for (const { run, idempotentHit } of submitted) {
      const fields = { request_id: requestId, ...runFields({ ...run, runId: run.id, workerId: run.leaseOwner }) }
      log.info(fields, idempotentHit ? 'run matched' : 'run created')
      if (idempotentHit) continue
      metrics.runsCreated.inc()
      if (!hinted.has(run.queue)) wakeup.hint(`queue:${run.queue}`, run.id)
      hinted.add(run.queue)
    }
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
      if (submitted instanceof Refusal) throw submitted
      announce([submitted], requestId)
      return run.files ? { ...submitted, files: run.files } : submitted
    },
    async storeMany(runs, requestId) {
      const answers = await store.submitMany(runs)
      announce(answers.filter(isAccepted), requestId)
      for (const answer of answers) {
        if (isAccepted(answer) || ERRORS[answer.code].status < 500) continue
        log.error({ request_id: requestId, code: answer.code, err: answer }, 'run of a batch not stored')
      }
      return answers.map((answer, index) => {
        const { files } = runs[index]!
        return files && isAccepted(answer) ? { ...answer, files } : answer
      })
    },
    async answerOf({ run, idempotentHit, files }) {
      const older = idempotentHit ? await store.readRun(run.id) : null
      return { ...present.detail(older ?? detailOfNew(run, files)), idempotent_hit: idempotentHit }
    },
    listedAnswerOf({ run, idempotentHit, files }) {
      const shown = idempotentHit ? present.listed(run) : present.detail(detailOfNew(run, files))
      return { ...shown, idempotent_hit: idempotentHit }
    },
  }
}

function isAccepted(answer: Submitted | Refusal): answer is Submitted {
  return !(answer instanceof Refusal)
}

function detailOfNew(run: Run, files: DescribedFile[] = []): RunDetail {
  return { run, attempts: [], waiting: run.status === 'PENDING' ? whyNewRunWaits(run) : null, files }
}
