/** What runs in the pod: our program for callables and commands, or a program of the image that speaks the protocol itself. Real processes. */

import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { kubeApi } from '../../test/support/kube-api.ts'
import type { FakePod } from '../../test/support/kube-api-pod.ts'
import { ended, type LeaseService, leaseService } from '../../test/support/lease-service.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { until } from '../../test/support/until.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { gone } from './fixtures/attempts.ts'
import { definitionWith, executorOn, inputOf, SPEC } from './fixtures/kubernetes.ts'

const MODEL = `
import os
def doubles(parameters):
    print("doubling", parameters["n"], flush=True)
    return {"twice": parameters["n"] * 2, "ticket": os.environ.get("HOLDFAST_TICKET")}
def fails(parameters):
    raise ValueError("bad input")
`

/** In the words of the protocol, with nothing of ours: what any image can do. */
const OWN_PROGRAM = `
const { createHash, randomBytes } = require('node:crypto')
const { HOLDFAST_URL, HOLDFAST_RUN_ID, HOLDFAST_TICKET } = process.env
const token = 'hfa_' + randomBytes(32).toString('base64url')
const post = async (what, body, headers) => {
  const url = HOLDFAST_URL + '/leases/' + HOLDFAST_RUN_ID + '/' + what
  const all = { 'content-type': 'application/json', ...headers }
  return (await fetch(url, { method: 'POST', headers: all, body: JSON.stringify(body) })).json()
}
;(async () => {
  const token_hash = createHash('sha256').update(token).digest('hex')
  const lease = await post('start', { token_hash }, { 'holdfast-ticket': HOLDFAST_TICKET })
  await post('complete', { result: lease.parameters.n + 1 }, { 'holdfast-attempt-token': token })
})()
`

async function started(
  model: Partial<ModelDefinition>,
  work: (pod: FakePod, folder: string) => Promise<unknown>,
  service?: LeaseService,
) {
  const used = service ?? (await leaseService())
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  await writeFile(join(folder.path, 'model.py'), MODEL)
  const api = await kubeApi({ work: async (pod) => void (await work(pod, folder.path)) })
  const specOf = () => definitionWith({ kubernetes: SPEC, ...model })
  const executor = executorOn(api, { specOf, serviceUrl: used.url, timings: { logFinishMs: 3_000 } })
  const attempt = used.attempt(inputOf({ parameters: { n: 4 } }))
  const handle = await executor.submit(attempt.input, attempt.reports)
  return { api, attempt, executor, handle, outcome: executor.watch(handle) }
}

/** As a container runtime would: what the Job says, in the image's folder. */
const asTheJobSays = (pod: FakePod, folder: string) =>
  pod.runProcess(pod.object!.spec.containers[0].command, { PYTHONPATH: folder })

describe.skipIf(!hasPython())('our program', () => {
  it('calls a function of the image, prints into the log, and hides the ticket from it', async () => {
    const { attempt, outcome } = await started({ python: { callable: 'model:doubles' } }, asTheJobSays)
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '{"ticket":null,"twice":8}' })
    expect(attempt.starts).toBe(1)
    await until(() => attempt.output.includes('doubling 4'), { what: 'it has printed' })
  })

  it('tells of an exception with class, message and traceback', async () => {
    const { outcome } = await started({ python: { callable: 'model:fails' } }, asTheJobSays)
    expect(await ended(outcome)).toMatchObject({
      status: 'failed',
      error: { class: 'ValueError', message: 'bad input', stack: expect.stringContaining('model.py') },
    })
  })

  it('runs a command of the image by the contract of commands', async () => {
    const script =
      'import json,os,sys; json.dump(json.load(sys.stdin)["n"] * 3, open(os.environ["HOLDFAST_RESULT"], "w"))'
    const { outcome } = await started({ command: { argv: ['python3', '-c', script] } }, asTheJobSays)
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '12' })
  })

  it('is gone when the attempt was cancelled', async () => {
    const script = 'import os,time; print(os.getpid(), flush=True); time.sleep(600)'
    const running = await started({ command: { argv: ['python3', '-c', script] } }, asTheJobSays)
    const pid = Number.parseInt(await until(() => running.attempt.output.trim(), { what: 'it runs' }), 10)
    await running.executor.cancel(running.handle, 'cancelled')
    expect(await running.outcome).toEqual({ status: 'cancelled' })
    await gone([pid])
    expect(running.api.jobs()).toEqual([])
  })
})

describe('a program of the image', () => {
  it('trades its ticket and says how it ended, with the protocol alone', async () => {
    const work = (pod: FakePod) => pod.runProcess([process.execPath, '-e', OWN_PROGRAM])
    const { api, outcome } = await started({}, work)
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '5' })
    expect(api.jobs()[0]!.spec.template.spec.containers[0]).not.toHaveProperty('command')
  })

  it('that cannot reach the service may leave its outcome as the termination message', async () => {
    const script = `require('fs').writeFileSync(process.env.TERMINATION_LOG, JSON.stringify({ ok: true, result: 'kept' }))`
    const { outcome } = await started({}, (pod) => pod.runProcess([process.execPath, '-e', script]))
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '"kept"' })
  })

  it('or as a line in its log, which only the holder of the ticket can write', async () => {
    const script = `
      const body = Buffer.from(JSON.stringify({ ok: true, result: 'line' })).toString('base64url')
      const mac = (key) => require('crypto').createHmac('sha256', key).update(body).digest('hex')
      console.log('HOLDFAST-OUTCOME v1 ' + body + ' ' + mac(process.env.HOLDFAST_TICKET))
      console.log('after it')
    `
    const { attempt, outcome } = await started({}, (pod) => pod.runProcess([process.execPath, '-e', script]))
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '"line"' })
    expect(attempt.output).toBe('after it\n')
  })

  it('a line that somebody else made up counts for nothing', async () => {
    const body = Buffer.from(JSON.stringify({ ok: true, result: 'forged' })).toString('base64url')
    const { outcome } = await started({}, async (pod) => {
      pod.start()
      pod.print(`HOLDFAST-OUTCOME v1 ${body} ${'0'.repeat(64)}`)
      pod.exit(0)
    })
    expect(await ended(outcome)).toMatchObject({ status: 'failed', error: { class: 'NoOutcome' } })
  })
})

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
