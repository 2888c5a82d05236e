/** Who is told what of which facts. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutText, type Fact, MAIL_DOCUMENTS_MAX, type MailData, SPREAD_DEFAULTS } from './fact.ts'
import { bodyOf, type FactBody, type FactRun } from './fact-body.ts'
import { batchesToWatch, deliveriesOf, type Hearer, Hearers, type Mark, marksPassed, runsToCount } from './spread.ts'

const AT = new Date('2026-01-02T03:04:05.678Z')
const BATCH = '00000000-0000-7000-8000-00000000000b'

let made = 0
function fact(changes: Partial<Fact> = {}): Fact {
  made += 1
  const data = { seq: 3, status: 'SUCCEEDED', attempt: 1, ...changes.data }
  return { id: `f${made}`, kind: 'run.succeeded', owner: 'ann', runId: 'r', batchId: null, at: AT, ...changes, data }
}
function failed(changes: Partial<Fact> = {}, message = 'it broke', errorClass = 'Error'): Fact {
  const data = { seq: 3, status: 'FAILED', attempt: 1, message, data: { error_class: errorClass } }
  return fact({ kind: 'run.failed', ...changes, data })
}
function hearer(changes: Partial<Hearer> = {}): Hearer {
  const before = new Date(AT.getTime() - 1)
  return { id: 'h', channel: 'webhook', owner: 'ann', kinds: ['run.succeeded'], createdAt: before, ...changes }
}
const mailer = (...kinds: string[]) => hearer({ channel: 'mail', kinds })
const run = (changes: Partial<FactRun> = {}): FactRun => ({
  id: 'r',
  model: 'm',
  modelVersion: '1',
  queue: 'default',
  title: null,
  tags: [],
  traceParent: null,
  lastError: null,
  document: null,
  ...changes,
})
const spread = (facts: Fact[], hearers: Hearer[], runs: FactRun[] = [run({ document: 'a.pdf' })], marks: Mark[] = []) =>
  deliveriesOf({
    facts,
    hearers: new Hearers(hearers),
    runs: new Map(runs.map((one) => [one.id, one])),
    marks,
    titles: new Map([[BATCH, 'March']]),
    now: AT,
    settings: SPREAD_DEFAULTS,
  })

describe('programs', () => {
  it('are told a fact of a kind they asked for, under its id', () => {
    const one = fact()
    expect(spread([one], [hearer()], [run({ title: 'T', tags: ['x'] })])).toEqual([
      {
        receiverId: 'h',
        channel: 'webhook',
        owner: 'ann',
        kind: 'run.succeeded',
        messageId: one.id,
        at: AT,
        group: null,
        data: {
          type: 'run.succeeded',
          timestamp: '2026-01-02T03:04:05.678Z',
          data: {
            run_id: 'r',
            seq: 3,
            status: 'SUCCEEDED',
            model: 'm',
            model_version: '1',
            owner: 'ann',
            queue: 'default',
            attempt: 1,
            batch_id: null,
            title: 'T',
            tags: ['x'],
            trace_parent: null,
            error: null,
          },
        },
      },
    ])
  })

  it.each<[string, Partial<Hearer>]>([
    ['of another owner', { owner: 'bob' }],
    ['of another kind', { kinds: ['run.failed'] }],
    ['that came after it', { createdAt: new Date(AT.getTime() + 1) }],
  ])('%s are not told', (_, changes) => {
    expect(spread([fact()], [hearer(changes)])).toEqual([])
  })

  it('of everybody are told of each owner, and keep what they get for themselves', () => {
    expect(spread([fact()], [hearer({ owner: '*' })])).toMatchObject([{ owner: '*', data: { data: { owner: 'ann' } } }])
  })

  it.each<[string, Fact, FactRun, unknown]>([
    ['as its event says', failed(), run(), { class: 'Error', message: 'it broke' }],
    [
      'as the run says, where the event does not',
      fact({ kind: 'run.reclaimed', data: { attempt: 2, message: 'the lease expired' } }),
      run({ lastError: { class: 'WorkerLost', attempt: 2 } }),
      { class: 'WorkerLost', message: 'the lease expired' },
    ],
    [
      'and not as a later attempt failed',
      fact({ kind: 'run.reclaimed', data: { attempt: 2, message: 'the lease expired' } }),
      run({ lastError: { class: 'Boom', attempt: 3 } }),
      { class: 'Error', message: 'the lease expired' },
    ],
  ])('are told the error %s', (_, one, of, error) => {
    expect(bodyOf(one, of).data.error).toEqual(error)
  })

  it('get no more than 20 KB, whatever people wrote', () => {
    const text = fc.string({ unit: 'binary', maxLength: 5_000 })
    const tags = fc.array(fc.string({ unit: 'binary', maxLength: 128 }), { maxLength: 32 })
    fc.assert(
      fc.property(text, text, tags, (message, errorClass, all) => {
        const body = bodyOf(failed({}, message, errorClass), run({ tags: all }))
        expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(19_000)
      }),
      { numRuns: 8 },
    )
    const tag = '\u0001'.repeat(128)
    const largest = bodyOf(failed({}, '€'.repeat(99_999)), run({ tags: Array.from({ length: 32 }, () => tag) }))
    expect(Buffer.byteLength(JSON.stringify(largest))).toBeLessThan(19_000)
    expect(largest.data).toMatchObject({ truncated: true, error: { message: expect.stringContaining('(cut)') } })
  })

  it('a text is never cut through a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 10, max: 40 }), (text, lengthMax) => {
        const whole = text.toWellFormed()
        expect(cutText(whole, lengthMax).isWellFormed()).toBe(true)
        expect(cutText(whole, lengthMax).length).toBeLessThanOrEqual(Math.max(lengthMax, 0))
      }),
    )
  })

  it('are told which document was there already', () => {
    const data = { data: { name: 'b.pdf', file_id: 'f', upload_id: 'u' } }
    const told = spread([fact({ kind: 'document.duplicate', data })], [hearer({ kinds: ['document.duplicate'] })])
    expect((told[0]!.data as FactBody).data.document).toEqual({ name: 'b.pdf', file_id: 'f', upload_id: 'u' })
  })
})

describe('people', () => {
  it('are told of failed documents, and not of other runs', () => {
    const facts = [failed(), failed({ runId: 'other' })]
    const told = spread(facts, [mailer('failure')], [run({ document: 'a.pdf' }), run({ id: 'other' })])
    expect(told).toHaveLength(1)
    expect(told[0]).toMatchObject({
      kind: 'failure',
      messageId: facts[0]!.id,
      at: null,
      group: { windowSeconds: 300 },
      data: {
        error: { class: 'Error', message: 'it broke' },
        documents: [{ runId: 'r', name: 'a.pdf', at: AT.toISOString() }],
        more: 0,
      },
    })
  })

  it('get one mail for one error of one batch, with the first twenty named and the others counted', () => {
    const facts = Array.from({ length: 25 }, () => failed({ batchId: BATCH }))
    const [mail, ...more] = spread([...facts, failed(), failed({}, 'x', 'Other')], [mailer('failure')])
    expect((mail!.data as { documents: unknown[] }).documents).toHaveLength(MAIL_DOCUMENTS_MAX)
    expect(mail!.data).toMatchObject({ more: 5, batchId: BATCH })
    expect(more.map(({ data }) => (data as { batchId: string | null }).batchId)).toEqual([null, null])
    expect(new Set(more.map(({ group }) => group!.key)).size).toBe(2)
  })

  it('of the same mail do not get what another was told', () => {
    const [a, b] = [mailer('failure'), { ...mailer('failure'), id: 'h2', createdAt: AT }]
    const early = failed({ at: new Date(AT.getTime() - 1) })
    const told = spread([early, failed()], [a, b])
    expect(
      told.map(({ receiverId, data }) => [receiverId, (data as { documents: unknown[] }).documents.length]),
    ).toEqual([
      ['h', 2],
      ['h2', 1],
    ])
  })

  it('get one mail for a folder that is uploaded twice', () => {
    const facts = ['a', 'b', 'c'].map((name) => fact({ kind: 'document.duplicate', data: { data: { name } } }))
    const [mail, ...more] = spread(facts, [mailer('duplicate')])
    expect((mail!.data as Extract<MailData, { kind: 'duplicate' }>).documents.map(({ name }) => name)).toEqual([
      'a',
      'b',
      'c',
    ])
    expect(more).toEqual([])
  })

  it('hear of a finished batch of documents, and not of one of other runs', () => {
    const data = { title: 'March', counts: { total: 2, done: 2 }, has_documents: true }
    const done = fact({ kind: 'batch.completed', runId: null, batchId: BATCH, data })
    const plain = { ...done, data: { ...data, has_documents: false } }
    const told = spread([done, plain], [mailer('batch_finished'), hearer({ id: 'w', kinds: ['batch.completed'] })])
    expect(told.map(({ receiverId, kind }) => [receiverId, kind])).toEqual([
      ['h', 'batch_finished'],
      ['w', 'batch.completed'],
      ['w', 'batch.completed'],
    ])
    expect(told[0]!.data).toEqual({
      kind: 'batch_finished',
      batchId: BATCH,
      batchTitle: 'March',
      counts: { total: 2, done: 2 },
    })
    expect((told[1]!.data as FactBody).data).not.toHaveProperty('has_documents')
  })
})

describe('progress', () => {
  it('every multiple that is passed is one mark, however it is passed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 20 }),
        fc.integer({ min: 100, max: 1_500 }),
        (steps, every) => {
          let before = 0
          const marks = steps.flatMap((step) => {
            const counted = { owner: 'ann', batchId: null, before, after: before + step }
            before += step
            return marksPassed([counted], every).map(({ mark }) => mark)
          })
          expect(marks).toEqual(Array.from({ length: Math.floor(before / every) }, (_, no) => (no + 1) * every))
        },
      ),
    )
  })

  const passed = (owner: number, batch: number) => [
    { owner: 'ann', batchId: null, before: owner - 10, after: owner },
    { owner: 'ann', batchId: BATCH, before: batch - 10, after: batch },
  ]
  const told = (marks: Mark[], ...hearers: Hearer[]) =>
    spread([], hearers, [], marks).map(({ messageId, data }) => [messageId, data])

  it('an owner with one batch gets one mail for the mark of both, and programs hear of the batch', () => {
    const marks = marksPassed(passed(1_005, 1_005), 1_000)
    const data = { kind: 'progress', done: 1_000, batchId: BATCH, batchTitle: 'March' }
    expect(told(marks, mailer('progress'))).toEqual([[expect.stringMatching(/^[0-9a-f]{32}_progress_1000$/), data]])
    const id = `${BATCH.replaceAll('-', '')}_progress_1000`
    expect(told(marks, hearer({ kinds: ['batch.progress'] }))).toEqual([
      [id, { type: 'batch.progress', timestamp: AT.toISOString(), data: expect.objectContaining({ done: 1_000 }) }],
    ])
  })

  it('with more than that batch, the owner and the batch have marks of their own', () => {
    const marks = marksPassed(passed(2_005, 1_005), 1_000)
    expect(told(marks, mailer('progress')).map(([, data]) => data)).toEqual([
      { kind: 'progress', done: 2_000, batchId: null, batchTitle: null },
      { kind: 'progress', done: 1_000, batchId: BATCH, batchTitle: 'March' },
    ])
  })

  it.each<[string, Hearer, string | null, string[]]>([
    ['mail about progress', mailer('progress'), null, ['r']],
    ['mail about something else', mailer('failure'), null, []],
    ['programs that follow batches', hearer({ kinds: ['batch.progress'] }), BATCH, ['r']],
    ['programs that follow batches, of a document in none', hearer({ kinds: ['batch.progress'] }), null, []],
  ])('counts documents for %s', (_, who, batchId, counted) => {
    const runs = new Map([['r', run({ document: '' })]])
    expect(runsToCount([fact({ batchId }), failed({ batchId })], runs, new Hearers([who]))).toEqual(counted)
    expect(runsToCount([fact({ batchId })], new Map([['r', run()]]), new Hearers([who]))).toEqual([])
  })
})

describe('batches', () => {
  const all = new Hearers([mailer('batch_finished')])

  it('are watched from each end in them, once each', () => {
    const facts = [
      fact({ batchId: BATCH }),
      failed({ batchId: BATCH }),
      fact({ kind: 'document.duplicate', batchId: BATCH }),
    ]
    expect(batchesToWatch(facts, all)).toEqual([{ batchId: BATCH, owner: 'ann' }])
  })

  it.each<[string, Fact, Hearers]>([
    ['nobody wants to hear of it', fact({ batchId: BATCH }), new Hearers([hearer()])],
    ['nothing ended', fact({ kind: 'run.started', batchId: BATCH }), all],
    ['there is none', fact(), all],
  ])('are not watched when %s', (_, one, hearers) => {
    expect(batchesToWatch([one], hearers)).toEqual([])
  })
})
