/**
 * Submit: accept a request once.
 *
 * The usual case is one statement for a whole batch (`insert-runs.ts`). What it did not create had a name that was taken
 * (`taken-names.ts`). A batch that fails is repeated item by item; an item that is still blocked then is asked alone, on a
 * connection that may wait longer, so that it neither fails nor delays its neighbours. After a lost reply the same ids are
 * sent again, which finds what was committed and creates only what was not.
 *
 * A run that something limits takes the other way, admission (`admit.ts`), with others of its kind and apart from the rest, so that those
 * whom nothing limits never wait for it. Which way it is, is known before (`quota-rules.ts`) or, of a rule that is new, by the statement.
 */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import { fileNotFound } from '../run/file-not-found.ts'
import { ADMISSION_PARTS } from './admission-parts.ts'
import { type Admission, createAdmission } from './admit.ts'
import { ALONE_PATIENCE, BATCH_PATIENCE, createAdmitBatch } from './admit-batch.ts'
import { GroupCommit } from './group-commit.ts'
import type { HintBehind } from './hint-behind.ts'
import { type Inserted, insertRuns } from './insert-runs.ts'
import { type Connections, connectionsOf, onConnection } from './kept-connection.ts'
import { createLanes, type Lanes } from './lanes.ts'
import {
  detailOf,
  isConnectionLost,
  isForeignKeyViolation,
  isLockTimeout,
  isSerializationFailure,
  isStatementTimeout,
  isUniqueViolation,
  unavailable,
} from './pg-errors.ts'
import { createRuleCopy, type RuleCopy } from './quota-rules.ts'
import { runOfNew } from './run-row.ts'
import type { NewRun } from './store.ts'
import { type Answer, type Answers, answerById, answerTaken, nameIds } from './taken-names.ts'

export type SubmitOptions = {
  /** For batches: gives up waiting for a taken name soon, then the batch is taken apart. */
  batchPool: pg.Pool
  /** For single items: waits up to two seconds for a twin that is still committing. */
  singlePool: pg.Pool
  /** For batches that go through admission; the one for single items when not given. */
  admitPool?: pg.Pool
  admission?: Admission
  rules?: RuleCopy
  batchMax?: number
  lanes?: number
  /** Shared with others that make runs. */
  lanesKnown?: Lanes
  retryForMs?: number
  /** Of `batchPool`, for the batches alone. */
  connections?: Connections
  /** On those connections; without it submits hint at nothing by themselves. */
  hintBehind?: HintBehind
}

type OnRule = (runs: NewRun[], answers: Answers) => Promise<NewRun[]>

export type Submit = { one(run: NewRun): Promise<Answer>; many(runs: NewRun[]): Promise<Answer[]> }

/** Requests waiting for a commit; at the slowest measured rate a few seconds of work. */
const QUEUE_MAX = 10_000
/** Longer than a batch takes as a rule, so that only one that is held up by a taken name lets others pass. */
const GATHER_MS = 10
/** Two smaller batches side by side take longer than one after the other: each has a price of its own, and commits wait for the disk anyway. */
const BESIDE_MIN = 100
/** How many go through admission together, holding up all others of their owners, and how many such batches at once. */
const LIMITED_MAX = 200
const LIMITED_LANES = 2

export function createSubmit(options: SubmitOptions): Submit {
  const { batchPool, singlePool, hintBehind, retryForMs = 10_000 } = options
  const connections = options.connections ?? connectionsOf(batchPool)
  const lanes = options.lanesKnown ?? createLanes()
  const admitPool = options.admitPool ?? singlePool
  const rules = options.rules ?? createRuleCopy(singlePool)
  const admission = options.admission ?? createAdmission(ADMISSION_PARTS)
  const admitBatch = createAdmitBatch({ lanes, admission })
  /** Requests that are being asked alone, by name. */
  const asking = new Map<string, Promise<Answer>>()
  let aloneCount = 0
  /** Batches whose statement is under way. */
  let sending = 0

  const group = new GroupCommit<NewRun, Answer>({
    flush: submitBatch,
    batchMax: options.batchMax ?? 500,
    lanes: options.lanes ?? 2,
    gatherMs: GATHER_MS,
    besideMin: BESIDE_MIN,
    queueMax: QUEUE_MAX,
    overflow,
  })
  const limited = new GroupCommit<NewRun, Answer>({
    flush: submitLimited,
    batchMax: LIMITED_MAX,
    lanes: LIMITED_LANES,
    queueMax: QUEUE_MAX,
    overflow,
  })

  const isLimited = (run: NewRun) => rules.concern(run) || admission.concerns(run)

  /**
   * Equal names inside one batch are merged: the first asks for the name, the others find it taken afterwards. What has to
   * be asked alone is answered by a promise, so that neither its neighbours nor the next commit wait for it.
   */
  async function submitBatch(runs: NewRun[]): Promise<(Answer | Promise<Answer>)[]> {
    const answers: Answers = new Map()
    const firsts: NewRun[] = []
    const later: NewRun[] = []
    const asked = new Set<string>()
    const isAsked = (name: string) => asked.has(name) || asking.has(name)
    for (const run of runs) {
      const names = nameIds(run)
      if (names.some(isAsked)) later.push(run)
      else if (isLimited(run))
        answers.set(
          run,
          ask(run, () => limited.add(run)),
        )
      else firsts.push(run)
      for (const name of names) asked.add(name)
    }
    const isOpen = (run: NewRun) => !answers.has(run)
    const lost = await answerFirsts(firsts, answers)
    for (const run of firsts.filter(isOpen)) answers.set(run, askAlone(run, lost))
    await answerTaken(batchPool, later, answers).catch(() => {})
    for (const run of later.filter(isOpen)) answers.set(run, askAlone(run, false))
    return runs.map((run) => answers.get(run)!)
  }

  /** All in one statement, or, when that fails, one after the other. Answers whether a reply was lost. */
  async function answerFirsts(runs: NewRun[], answers: Answers): Promise<boolean> {
    if (runs.length === 0) return false
    let failure = await tryAnswer(runs, answers)
    if (failure === undefined) return false
    for (const run of runs.filter((open) => !answers.has(open))) {
      if (isConnectionLost(failure)) return true
      if (runs.length > 1) failure = await tryAnswer([run], answers)
      if (failure !== undefined && !isPassing(failure))
        answers.set(run, releasedFile(run, failure) ?? rejected(failure))
    }
    return isConnectionLost(failure)
  }

  async function tryAnswer(runs: NewRun[], answers: Answers): Promise<unknown> {
    try {
      const missing = lanes.ensure(batchPool, runs)
      if (missing) await missing
      await answerTaken(batchPool, await create(batchPool, runs, answers, askLimited), answers)
      return undefined
    } catch (error) {
      return error
    }
  }

  const askAlone = (run: NewRun, lost: boolean) => ask(run, () => submitAlone(run, lost))

  /** Waits for a request with the same name that is being asked alone already, rather than for the lock on the name. */
  function ask(run: NewRun, how: () => Promise<Answer>): Promise<Answer> {
    if (aloneCount >= QUEUE_MAX) return Promise.resolve(overflow())
    aloneCount += 1
    const names = nameIds(run)
    const before = names.flatMap((name) => asking.get(name) ?? [])
    const answer = Promise.allSettled(before)
      .then((ends) => busyOf(ends) ?? how())
      .finally(() => {
        aloneCount -= 1
        for (const name of names) if (asking.get(name) === answer) asking.delete(name)
      })
    answer.catch(() => {})
    for (const name of names) if (!asking.has(name)) asking.set(name, answer)
    return answer
  }

  /** A rule is about some of a batch that was sent, and none was created. Answers those whom no rule is about. */
  async function askLimited(runs: NewRun[], answers: Answers): Promise<NewRun[]> {
    await rules.refresh()
    const isAnyLimited = runs.some(isLimited)
    // The rule may be gone again. Admission finds out.
    for (const run of runs) {
      if (isLimited(run) || !isAnyLimited)
        answers.set(
          run,
          ask(run, () => limited.add(run)),
        )
    }
    return runs.filter((run) => !answers.has(run))
  }

  /** What fails together is asked alone. When others are in the way for too long, one owner's runs do not make those of another wait again. */
  async function submitLimited(runs: NewRun[]): Promise<(Answer | Promise<Answer>)[]> {
    const answers: Answers = new Map()
    const failure = await admitBatch(admitPool, runs, answers, BATCH_PATIENCE).then(
      () => undefined,
      (error: unknown) => error,
    )
    const isOfOne = runs.every(({ owner }) => owner === runs[0]!.owner)
    if (failure instanceof Refusal && isOfOne) return runs.map((run) => answers.get(run) ?? failure)
    return runs.map((run) => answers.get(run) ?? submitAlone(run, isConnectionLost(failure)))
  }

  /** After a lost reply the run may exist, finished even, and its names may have gone to others: it is looked for by id first. */
  async function submitAlone(run: NewRun, replyLost: boolean): Promise<Answer> {
    const giveUpAt = performance.now() + retryForMs
    let lost = replyLost
    let isRuled = false
    const noteRule = async () => {
      isRuled = true
      return []
    }
    for (let tries = 1; ; tries += 1) {
      const answers: Answers = new Map()
      try {
        if (lost) await answerById(singlePool, [run], answers)
        if (!answers.has(run) && (isRuled || isLimited(run))) {
          await admitBatch(singlePool, [run], answers, ALONE_PATIENCE)
          // The earlier sending may have been committed while this one waited for its locks.
          if (lost && answers.get(run) instanceof Refusal) await answerById(singlePool, [run], answers)
        } else if (!answers.has(run)) {
          await lanes.ensure(singlePool, [run])
          await answerTaken(singlePool, await create(singlePool, [run], answers, noteRule), answers)
        }
        const answer = answers.get(run)
        if (answer) return answer
      } catch (error) {
        if (error instanceof Refusal) return error
        if (isLockTimeout(error)) {
          return new Refusal(
            'busy',
            'Another request with the same idempotency key or payload is still being accepted.',
          )
        }
        const refusal = releasedFile(run, error)
        if (refusal) return refusal
        if (!isPassing(error)) throw error
        lost ||= isConnectionLost(error) || isRepeated(error)
        if (performance.now() > giveUpAt) return unavailable(error)
      }
      if (performance.now() > giveUpAt) return new Refusal('busy', 'The idempotency key changed hands too often.')
      await pause(Math.min(1_000, 10 * 2 ** Math.min(tries, 7)))
    }
  }

  /** Answers those that were not created: a name was taken. `onRule` gets all of them when a rule is about one, and keeps that one. */
  async function create(pool: pg.Pool, runs: NewRun[], answers: Answers, onRule: OnRule): Promise<NewRun[]> {
    let inserted: Awaited<ReturnType<typeof insertHinting>>
    try {
      sending += 1
      inserted = await insertHinting(pool, runs)
    } catch (error) {
      // A request with both a key and a slot got only one of them: the statement undid itself.
      if (!isForeignKeyViolation(error, 'idempotency_keys_run_id_fkey')) throw error
      return runs.length === 1 ? runs : createApart(pool, runs, answers, onRule)
    } finally {
      sending -= 1
    }
    if (inserted.isRuled) {
      const rest = await onRule(runs, answers)
      return rest.length > 0 ? create(pool, rest, answers, onRule) : []
    }
    await lanes.list(pool, runs)
    const { createdAtMs, isCreated } = inserted
    const createdAt = new Date(createdAtMs)
    return runs.filter((run) => {
      if (!isCreated(run)) return true
      const etaMs = run.availableAt === null ? 0 : Date.parse(run.availableAt)
      const availableAt = etaMs > createdAtMs ? new Date(etaMs) : createdAt
      answers.set(run, {
        run: runOfNew(run, createdAt, availableAt),
        idempotentHit: false,
        isHinted: inserted.isHinted,
      })
      return false
    })
  }

  /**
   * The hint of a run that comes alone follows its statement at once. Under load whoever announces the runs sends fewer, for many commits
   * together. Workers find a run of a fair queue only after its owner is listed, so hints have to wait for that.
   */
  async function insertHinting(pool: pg.Pool, runs: NewRun[]): Promise<Inserted & { isHinted: boolean }> {
    if (pool !== batchPool) return { ...(await insertRuns(pool, runs, lanes.of)), isHinted: false }
    const insert = (client: pg.ClientBase) => insertRuns(client, runs, lanes.of)
    const isHinted = runs.length === 1 && sending === 1 && !lanes.isFair(runs[0]!)
    if (!hintBehind || !isHinted) return { ...(await onConnection(connections, insert)), isHinted: false }
    return { ...(await hintBehind(runs[0]!.queue, insert)), isHinted }
  }

  /** Those with one name together, those with two one by one, since one of them would undo its neighbours. */
  async function createApart(pool: pg.Pool, runs: NewRun[], answers: Answers, onRule: OnRule): Promise<NewRun[]> {
    const hasTwoNames = (run: NewRun) => nameIds(run).length > 1
    const together = runs.filter((run) => !hasTwoNames(run))
    const open = together.length > 0 ? await create(pool, together, answers, onRule) : []
    for (const run of runs.filter(hasTwoNames)) open.push(...(await create(pool, [run], answers, onRule)))
    return open
  }

  return {
    one: (run) => group.add(run),
    async many(runs) {
      const answers = await submitBatch(runs)
      if (answers.every(isGiven)) return answers
      return Promise.all(answers.map((answer) => (isGiven(answer) ? answer : answer.catch(unexpected))))
    },
  }
}

/** The same statement may succeed when sent again. */
function isPassing(error: unknown): boolean {
  return (
    isLockTimeout(error) ||
    isStatementTimeout(error) ||
    isSerializationFailure(error) ||
    isConnectionLost(error) ||
    isRepeated(error)
  )
}

/** An earlier sending of the same run, whose reply was lost, has been committed. */
function isRepeated(error: unknown): boolean {
  return isUniqueViolation(error, 'model_runs_pkey')
}

/** Its owner gave up a file of the run, and it was forgotten, after the request had been checked. */
function releasedFile({ files = [] }: NewRun, error: unknown): Refusal | undefined {
  if (!isForeignKeyViolation(error, 'run_files_file_id_fkey')) return undefined
  const missing = files.filter(({ fileId }) => detailOf(error).includes(fileId))
  return fileNotFound(missing.length > 0 ? missing : files)
}

function busyOf(ends: PromiseSettledResult<Answer>[]): Refusal | undefined {
  const answers = ends.map((end) => (end.status === 'fulfilled' ? end.value : undefined))
  return answers.find((answer) => answer instanceof Refusal && answer.code === 'busy') as Refusal | undefined
}

function rejected(error: unknown): Promise<never> {
  const rejection = Promise.reject(error)
  rejection.catch(() => {})
  return rejection
}

function overflow(): Refusal {
  return new Refusal('busy', 'Too many requests are waiting for the database.')
}

/** Nearly always all of them are. */
function isGiven(answer: Answer | Promise<Answer>): answer is Answer {
  return !(answer instanceof Promise)
}

/** One item of a batch that the database refuses for a reason nobody foresaw. */
function unexpected(cause: unknown): Refusal {
  return new Refusal('internal-error', 'This run could not be stored.', { cause })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
