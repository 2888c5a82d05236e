/** The outcome a job prints when it cannot say it: written by the job's own program, found by us, and never by accident. */

import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findOutcome, withoutOutcomeLines } from './outcome-line.ts'

const FOLDER = fileURLToPath(new URL('../../python', import.meta.url))
const TICKET = `hft_${'x'.repeat(43)}`

function lineOf(outcome: object, ticket = TICKET): string {
  const body = Buffer.from(JSON.stringify(outcome)).toString('base64url')
  return `HOLDFAST-OUTCOME v1 ${body} ${createHmac('sha256', ticket).update(body).digest('hex')}`
}

/** As the job's own program writes it. */
function lineOfJob(outcome: object): string {
  const program =
    'import json,sys,holdfast_ray_job as j; print(j.outcome_line(json.loads(sys.argv[1]), sys.argv[2]), end="")'
  const env = { PATH: process.env.PATH, PYTHONPATH: FOLDER, PYTHONDONTWRITEBYTECODE: '1' }
  return execFileSync('python3', ['-c', program, JSON.stringify(outcome), TICKET], { env, encoding: 'utf8' })
}

describe('the outcome line', () => {
  const line = lineOf({ ok: true, result: { b: 1.5, a: 'é' } })

  it('is what the program of the job prints', () => {
    const printed = lineOfJob({ ok: true, result: { b: 1.5, a: 'é' } })
    expect(findOutcome(printed, TICKET)).toEqual({ status: 'succeeded', resultText: '{"a":"é","b":1.5}' })
    expect(withoutOutcomeLines(printed)).toBe('')
  })

  it('carries a result', () => {
    expect(findOutcome(`noise\n${line}\nmore noise\n`, TICKET)).toEqual({
      status: 'succeeded',
      resultText: '{"a":"é","b":1.5}',
    })
  })

  it('carries an error', () => {
    const error = { class: 'ValueError', message: 'no', stack: 'at', retryable: false, exit_code: 3 }
    expect(findOutcome(lineOf({ ok: false, error }), TICKET)).toEqual({
      status: 'failed',
      error: { class: 'ValueError', message: 'no', stack: 'at', retryable: false, exitCode: 3 },
    })
  })

  it('is found in the raw reply, where line ends are escaped', () => {
    expect(findOutcome(`{"logs": "noise\\n${line}\\n"}`, TICKET)).not.toBeNull()
  })

  it('is not taken from somebody without the ticket', () => {
    expect(findOutcome(lineOf({ ok: true, result: 1 }, 'hft_guessed'), TICKET)).toBeNull()
    expect(findOutcome(line.replace(/v1 ./, 'v1 f'), TICKET)).toBeNull()
    expect(findOutcome(line.slice(0, -1), TICKET)).toBeNull()
  })

  it('is the last one of several', () => {
    const text = `${line}\n${lineOf({ ok: true, result: 2 })}\n${lineOf({ ok: true, result: 3 }, 'hft_other')}\n`
    expect(findOutcome(text, TICKET)).toEqual({ status: 'succeeded', resultText: '2' })
  })

  it('is not shown to people', () => {
    expect(withoutOutcomeLines(`one\n${line}\ntwo\n`)).toBe('one\ntwo\n')
  })

  it('refuses what is no strict JSON', () => {
    expect(findOutcome(lineOf({ ok: true, result: { ['__proto__']: 1 } }), TICKET)).toMatchObject({
      status: 'failed',
      error: { class: 'ResultNotJson', retryable: false },
    })
  })
})
