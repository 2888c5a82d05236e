import { describe, expect, it } from 'vitest'
import { REDACTED } from '../run/redaction.ts'
import { createLog, type LogOptions, runFields, withFields } from './log.ts'

const run = {
  runId: '0198a5b0-7c1e-7d3a-9b1e-1f2e3d4c5b6a',
  payloadHash: 'ab'.repeat(32),
  workerId: 'host-1',
  status: 'RUNNING',
  attemptCount: 2,
  queue: 'gpu',
  executor: 'process',
}

function logTo(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLog({ level: 'info', format: 'json', destination, ...options })
  return { log, lines, line: (index = 0) => JSON.parse(lines[index] ?? '') }
}

describe('the log', () => {
  it('writes one JSON object per line, with a level by name and an ISO time', () => {
    const { log, lines, line } = logTo()
    log.info({ port: 4600 }, 'listening')
    expect(lines[0]).toMatch(/^\{.*\}\n$/)
    expect(line()).toMatchObject({ level: 'info', pid: process.pid, port: 4600, msg: 'listening' })
    expect(new Date(line().time).toISOString()).toBe(line().time)
  })

  it('names everything that a line about a run must say', () => {
    const { log, line } = logTo()
    log.info(runFields(run), 'attempt started')
    expect(line()).toMatchObject({
      run_id: run.runId,
      payload_hash: run.payloadHash,
      worker_id: 'host-1',
      status: 'RUNNING',
      attempt_count: 2,
      queue: 'gpu',
      executor: 'process',
    })
  })

  it('keeps the fields of the process and of a child on each line', () => {
    const { log, line } = logTo({ fields: { role: 'worker' } })
    log.child({ request_id: 'r1' }).warn('slow')
    expect(line()).toMatchObject({ role: 'worker', request_id: 'r1', level: 'warn', msg: 'slow' })
  })

  it('hides sensitive names also among fields that all lines of a log share', () => {
    const { log, lines } = logTo({ redactWords: ['queue'] })
    const shared = withFields(log, { queue: 'gpu', worker_id: 'w1' })
    shared.info('one')
    withFields(shared, { request_id: 'r1' }).info('two')
    expect(lines.map((text) => JSON.parse(text))).toMatchObject([
      { queue: REDACTED, worker_id: 'w1', msg: 'one' },
      { queue: REDACTED, worker_id: 'w1', request_id: 'r1', msg: 'two' },
    ])
  })

  it('leaves out lines below its level', () => {
    const { log, lines } = logTo({ level: 'warn' })
    log.info('not this')
    log.error('this')
    expect(lines).toHaveLength(1)
  })

  it('writes an error with its message, stack and cause', () => {
    const { log, line } = logTo()
    log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed')
    expect(line().err).toMatchObject({ type: 'Error', message: expect.stringContaining('outer') })
    expect(line().err.stack).toContain('inner')
  })

  it('keeps text with line breaks in one line', () => {
    const { log, lines, line } = logTo()
    log.info({ note: 'a\nb' }, 'c\nd')
    expect(lines.join('').match(/\n/g)).toHaveLength(1)
    expect(line()).toMatchObject({ note: 'a\nb', msg: 'c\nd' })
  })

  it.each([
    ['password', { password: 'CANARY' }],
    ['apiKey', { apiKey: 'CANARY' }],
    ['attempt_token', { attempt_token: 'CANARY' }],
    ['parameters of a run', { parameters: { region: 'CANARY' } }],
    ['an authorization header', { headers: { Authorization: 'CANARY' } }],
    ['a cookie', { req: { headers: { cookie: 'CANARY' } } }],
    ['something inside a list', { items: [{ secret: 'CANARY' }] }],
  ])('never writes %s', (_name, fields) => {
    const { log, lines } = logTo()
    log.info(fields, 'careless')
    expect(lines.join('')).toContain('careless')
    expect(lines.join('')).not.toContain('CANARY')
  })

  it('does not change the object it was given', () => {
    const { log } = logTo()
    const fields = { nested: { token: 'mine' } }
    log.info(fields, 'x')
    expect(fields).toEqual({ nested: { token: 'mine' } })
  })

  it('hides by the configured words', () => {
    const { log, line } = logTo({ redactWords: ['iban'] })
    log.info({ iban: 'DE1', token: 't' }, 'x')
    expect(line()).toMatchObject({ iban: '[redacted]', token: 't' })
  })

  it('writes for a person when asked to', () => {
    const { log, lines } = logTo({ format: 'pretty' })
    log.info({ queue: 'gpu' }, 'claimed')
    expect(lines.join('')).toMatch(/INFO.*claimed.*"queue":"gpu"/)
  })
})
