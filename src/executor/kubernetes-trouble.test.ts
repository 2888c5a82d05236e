/** The kubernetes executor when something goes wrong between it, the API server and the worker before it. */

import { describe, expect, it } from 'vitest'
import { kubeApi } from '../../test/support/kube-api.ts'
import { refusal } from '../../test/support/kube-api-reply.ts'
import type { KubeObject } from '../../test/support/kube-api-storage.ts'
import { EngineAttempt, ended } from '../../test/support/lease-service.ts'
import { until } from '../../test/support/until.ts'
import type { ExternalRef, Outcome } from './executor.ts'
import { executorOn, inputOf, runningPod, type Started, submitted, submittedWith } from './fixtures/kubernetes.ts'
import { jobManifest } from './kubernetes-job.ts'

const SUCCESS: Outcome = { status: 'succeeded', resultText: '{"n":1}' }

describe('placing', () => {
  it('a reply that is lost leaves one Job, which is gone on with', async () => {
    const api = await kubeApi()
    api.loseReply('POST', /jobs$/)
    const started = await submitted(api)
    await runningPod(started)
    expect(api.count('POST', /jobs$/)).toBe(1)
    expect(api.jobs()).toHaveLength(1)
    started.attempt.say(SUCCESS)
    expect(await ended(started.outcome)).toEqual(SUCCESS)
  })

  it('a request that never arrived is made again once it is known that there is no Job', async () => {
    const api = await kubeApi()
    api.failNext('POST', /jobs$/)
    const started = await submitted(api)
    await runningPod(started)
    const asked = api.seen.filter(({ path, query }) => /jobs(\/|$)/.test(path) && !query.has('labelSelector'))
    expect(asked.slice(0, 3).map(({ method }) => method)).toEqual(['POST', 'GET', 'POST'])
    expect(api.jobs()).toHaveLength(1)
  })

  it('a Job of that name and of this attempt is adopted', async () => {
    const api = await kubeApi()
    const executor = executorOn(api)
    const first = await submitted(api, executor)
    await runningPod(first)
    const second = await submitted(api, executor, { runId: first.attempt.input.runId })
    await until(() => api.count('POST', /jobs$/) === 2, { what: 'it was asked for twice' })
    await runningPod(second)
    expect(api.jobs()).toHaveLength(1)
  })

  it('a Job of that name that is not of this attempt is refused and left alone', async () => {
    const api = await kubeApi()
    const input = inputOf()
    api.storage.create('jobs', 'default', foreignJob(`run-${input.runId}-a1`))
    const { outcome } = await submitted(api, executorOn(api), { runId: input.runId })
    expect(await ended(outcome)).toMatchObject({ status: 'failed', error: { class: 'JobNameTaken' } })
    expect(api.jobs()).toHaveLength(1)
    expect(api.count('DELETE', /./)).toBe(0)
  })

  it('a Secret whose reply is lost is there once, and the pod starts', async () => {
    const api = await kubeApi()
    api.loseReply('POST', /secrets$/)
    const started = await submitted(api)
    const pod = await runningPod(started)
    const answer = started.attempt.answer('start', { 'holdfast-ticket': pod.env.HOLDFAST_TICKET }, { token_hash: 'x' })
    expect(answer[0]).toBe(200)
  })

  it('what is asked while the API server is away is done when it is back', async () => {
    const api = await kubeApi()
    await api.stop()
    const started = await submitted(api)
    await until(() => started.attempt.logged.some((line) => line.includes('was not answered')), { what: 'it is told' })
    await api.start()
    await runningPod(started)
  })
})

describe('following', () => {
  it('goes on after the watch was cut, expired and the API server restarted', async () => {
    const started = await submittedWith()
    const { api } = started
    const pod = await runningPod(started)
    await api.stop()
    api.storage.compact()
    pod.exit(1, { message: 'said while nobody listened' })
    await api.start()
    expect(await ended(started.outcome)).toMatchObject({ status: 'failed', error: { class: 'ContainerFailed' } })
  })

  it('a version that is too old makes a new list, and nothing is missed', async () => {
    const api = await kubeApi()
    const started = await submitted(api)
    const pod = await runningPod(started)
    const lists = () =>
      api.seen.filter(({ path, query }) => /pods$/.test(path) && query.has('limit') && isForAll(query)).length
    const before = lists()
    api.storage.compact()
    api.cutStreams()
    await until(() => lists() > before, { what: 'the pods are listed anew' })
    pod.exit(1)
    expect(await ended(started.outcome)).toMatchObject({ status: 'failed' })
  })

  it('an API server that does not let us in any more ends nothing', async () => {
    const api = await kubeApi()
    const started = await submitted(api)
    await runningPod(started)
    api.tokens.add('another-token')
    api.cutStreams()
    await until(() => api.seen.filter(({ token }) => token === 'the-token').length > 12, { what: 'it asks again' })
    expect(await Promise.race([started.outcome, Promise.resolve('goes on')])).toBe('goes on')
    api.tokens.clear()
    started.attempt.say(SUCCESS)
    expect(await ended(started.outcome)).toEqual(SUCCESS)
  })

  it('a Job that is deleted by somebody is lost after the window', async () => {
    const api = await kubeApi()
    const started = await submitted(api)
    await runningPod(started)
    api.cluster.deleteJob('default', started.name, 'Background')
    expect(await ended(started.outcome)).toMatchObject({ status: 'lost' })
  })

  it('a Job that is gone but said how it ended is not lost', async () => {
    const api = await kubeApi()
    const started = await submitted(api)
    await runningPod(started)
    started.attempt.said = SUCCESS
    api.cluster.deleteJob('default', started.name, 'Background')
    expect(await ended(started.outcome)).toEqual(SUCCESS)
  })

  it('the not-found page of a proxy is no word about the Job', async () => {
    const api = await kubeApi()
    const started = await submitted(api, executorOn(api, { timings: { pollMs: 10 } }))
    await runningPod(started)
    for (let n = 0; n < 30; n += 1) api.failNext('GET', /jobs\/run-/, { status: 404, body: '<html>not found</html>' })
    await until(() => started.attempt.logged.some((line) => line.includes('HTTP 404')), { what: 'it is told' })
    started.attempt.say(SUCCESS)
    expect(await ended(started.outcome)).toEqual(SUCCESS)
  })

  it('pods that lost their Job are followed to their end', async () => {
    const api = await kubeApi()
    const started = await submitted(api)
    const pod = await runningPod(started)
    api.cluster.deleteJob('default', started.name, 'Orphan')
    pod.exit(0, { message: '{"ok":true,"result":7}' })
    expect(await ended(started.outcome)).toEqual({ status: 'succeeded', resultText: '7' })
  })
})

describe('cancel', () => {
  it('is confirmed when the pods are gone, and not before', async () => {
    const started = await submittedWith()
    const { api, executor, handle } = started
    const pod = await runningPod(started)
    pod.ignoresStop = true
    let isOver = false
    const cancelled = executor.cancel(handle, 'cancelled').then(() => {
      isOver = true
    })
    await pod.stopAsked
    await until(() => api.count('GET', /jobs\/run-/) > 5, { what: 'it looked a few times' })
    expect(isOver).toBe(false)
    pod.exit(137)
    await cancelled
    expect(await started.outcome).toEqual({ status: 'cancelled' })
    expect(api.jobs()).toEqual([])
    expect(api.pods()).toEqual([])
    expect(api.storage.list('secrets', 'default')).toEqual([])
  })

  it('deletes with a propagation policy', async () => {
    const started = await submittedWith()
    await runningPod(started)
    await started.executor.cancel(started.handle, 'cancelled')
    const deletes = started.api.seen.filter(({ method }) => method === 'DELETE')
    expect(deletes.map(({ body }) => body?.propagationPolicy)).toEqual(['Foreground'])
  })

  it('comes through although the reply is lost and the API server restarts', async () => {
    const started = await submittedWith()
    const { api } = started
    await runningPod(started)
    api.loseReply('DELETE', /jobs/)
    const cancelled = started.executor.cancel(started.handle, 'cancelled')
    await api.stop()
    await api.start()
    await cancelled
    expect(await started.outcome).toEqual({ status: 'cancelled' })
    expect(api.jobs()).toEqual([])
  })

  it('leaves a success that came first', async () => {
    const started = await submittedWith()
    await runningPod(started)
    started.attempt.said = SUCCESS
    await started.executor.cancel(started.handle, 'cancelled')
    expect(await started.outcome).toEqual(SUCCESS)
  })

  it('of an attempt that is not placed yet makes no Job', async () => {
    const api = await kubeApi()
    await api.stop()
    const started = await submitted(api)
    const cancelled = started.executor.cancel(started.handle, 'cancelled')
    await api.start()
    await cancelled
    expect(await started.outcome).toEqual({ status: 'cancelled' })
    expect(api.jobs()).toEqual([])
  })

  it('never deletes a Job that took the name of ours', async () => {
    const started = await submittedWith()
    const { api, name } = started
    await runningPod(started)
    api.storage.remove('jobs', 'default', name)
    for (const { metadata } of api.pods()) api.storage.remove('pods', 'default', metadata.name)
    api.storage.create('jobs', 'default', foreignJob(name))
    await started.executor.cancel(started.handle, 'cancelled')
    expect(await started.outcome).toEqual({ status: 'cancelled' })
    expect(api.count('DELETE', /./)).toBe(0)
  })

  it('takes pods along that somebody orphaned', async () => {
    const started = await submittedWith()
    await runningPod(started)
    started.api.cluster.deleteJob('default', started.name, 'Orphan')
    await started.executor.cancel(started.handle, 'cancelled')
    expect(started.api.cluster.pods.map(({ isOver }) => isOver)).toEqual([true])
  })

  it.each(['lease-lost', 'shutdown'] as const)('for %s leaves the Job to whoever is next', async (reason) => {
    const started = await submittedWith()
    await runningPod(started)
    await started.executor.cancel(started.handle, reason)
    expect(await started.outcome).toMatchObject({ status: 'unreachable' })
    expect(started.api.jobs()).toHaveLength(1)
    expect(started.api.count('DELETE', /./)).toBe(0)
  })
})

describe('adoption', () => {
  /** As the worker that comes after: it knows what was noted, and nothing else. */
  async function adopted(before: Pick<Started, 'api' | 'attempt'>, ref: ExternalRef) {
    const attempt = new EngineAttempt(before.attempt.input)
    attempt.ticketHash = before.attempt.ticketHash
    const executor = executorOn(before.api)
    const handle = await executor.adopt(attempt.input, ref, attempt.reports)
    return { attempt, executor, handle, outcome: executor.watch(handle) }
  }

  it('goes on with a Job that runs: one Job, one pod, one ticket', async () => {
    const before = await submittedWith()
    const pod = await runningPod(before)
    await before.executor.stop()
    const after = await adopted(before, before.attempt.alives.at(-1)!)
    await until(() => before.api.streamCount >= 2, { what: 'it is watched' })
    after.attempt.say(SUCCESS)
    pod.exit(0)
    expect(await ended(after.outcome)).toEqual(SUCCESS)
    expect(before.api.cluster.podsOf(before.name)).toHaveLength(1)
    expect(after.attempt.handOvers).toEqual([])
  })

  it('finds the end of a Job that ended while nobody looked', async () => {
    const before = await submittedWith()
    const pod = await runningPod(before)
    await before.executor.stop()
    pod.exit(2)
    const after = await adopted(before, before.attempt.alives.at(-1)!)
    expect(await ended(after.outcome)).toMatchObject({ status: 'failed', error: { exitCode: 2 } })
  })

  it('takes the log up where the one before left it', async () => {
    const before = await submittedWith()
    const pod = await runningPod(before)
    await before.executor.stop()
    const ref = { ...before.attempt.alives.at(-1)!, logs_until: '2100-01-01T00:00:00' }
    pod.lines.push({ at: '2099-01-01T00:00:00.000000000Z', text: 'old' })
    pod.lines.push({ at: '2100-01-01T00:00:01.000000000Z', text: 'new' })
    const after = await adopted(before, ref)
    await until(() => after.attempt.output !== '', { what: 'a line came' })
    expect(after.attempt.output).toBe('new\n')
  })

  it('makes the Job that the worker before had only noted', async () => {
    const api = await kubeApi()
    const attempt = new EngineAttempt(inputOf())
    const name = `run-${attempt.input.runId}-a1`
    const after = await adopted({ api, attempt }, { namespace: 'default', job: name })
    const pod = await runningPod({ api, attempt: after.attempt, name })
    expect(after.attempt.handOvers).toHaveLength(1)
    expect(after.attempt.answer('start', { 'holdfast-ticket': pod.env.HOLDFAST_TICKET }, { token_hash: 'x' })[0]).toBe(
      200,
    )
  })

  it('gives a new ticket to a pod whose Secret was never made', async () => {
    const api = await kubeApi()
    api.hangNext('POST', /secrets$/)
    const before = await submitted(api)
    await until(() => api.pods()[0]?.status?.containerStatuses, { what: 'the pod waits for its Secret' })
    await before.executor.stop()
    const after = await adopted(before, before.attempt.handOvers[0]!)
    const pod = await runningPod({ ...before, attempt: after.attempt })
    expect(after.attempt.handOvers).toHaveLength(1)
    expect(after.attempt.answer('start', { 'holdfast-ticket': pod.env.HOLDFAST_TICKET }, { token_hash: 'x' })[0]).toBe(
      200,
    )
    expect(api.cluster.podsOf(before.name)).toHaveLength(1)
  })

  it('of a Job that had run and is gone makes it lost, and starts nothing', async () => {
    const before = await submittedWith()
    await runningPod(before)
    await before.executor.cancel(before.handle, 'lease-lost')
    before.api.cluster.deleteJob('default', before.name, 'Background')
    const after = await adopted(before, before.attempt.alives.at(-1)!)
    expect(await ended(after.outcome)).toMatchObject({ status: 'lost' })
    expect(before.api.count('POST', /jobs$/)).toBe(1)
  })

  it('of a Job whose program has traded its ticket starts nothing either', async () => {
    const api = await kubeApi()
    const attempt = new EngineAttempt(inputOf())
    const after = new EngineAttempt(attempt.input)
    after.beforeHandOver = () => {
      throw new Error('the job of this attempt has traded its ticket')
    }
    const ref = { namespace: 'default', job: `run-${attempt.input.runId}-a1` }
    const executor = executorOn(api)
    const outcome = executor.watch(await executor.adopt(attempt.input, ref, after.reports))
    expect(await ended(outcome)).toMatchObject({ status: 'lost' })
    expect(api.count('POST', /jobs$/)).toBe(0)
  })

  it('refuses a place that is not one of ours', async () => {
    const api = await kubeApi()
    const attempt = new EngineAttempt(inputOf())
    const refused = executorOn(api).adopt(attempt.input, { cluster: 'default', submission_id: 'x' }, attempt.reports)
    await expect(refused).rejects.toThrow('does not name the Job')
  })

  it('with an API server that refuses to list pods concludes nothing', async () => {
    const before = await submittedWith()
    await runningPod(before)
    before.api.failNext('GET', /pods$/, refusal(403, 'Forbidden', 'pods is forbidden'))
    before.attempt.say(SUCCESS)
    expect(await ended(before.outcome)).toEqual(SUCCESS)
  })
})

/** Of the same name as one of ours, and somebody else's. */
function foreignJob(name: string): KubeObject {
  const input = inputOf({ runId: 'another' })
  const definition = { kubernetes: { image: 'x' } } as never
  const rest = { installation: 'here', url: 'http://x', keepSeconds: 60, graceSeconds: 1 }
  return jobManifest({ name, input, definition, ...rest })
}

function isForAll(query: URLSearchParams): boolean {
  return query.get('labelSelector')?.includes('managed-by') ?? false
}
