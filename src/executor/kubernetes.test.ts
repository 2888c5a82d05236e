/** The kubernetes executor against an API server in this process. */

import { describe, expect, it } from 'vitest'
import { kubeApi } from '../../test/support/kube-api.ts'
import { refusal } from '../../test/support/kube-api-reply.ts'
import { EngineAttempt, ended } from '../../test/support/lease-service.ts'
import { until } from '../../test/support/until.ts'
import type { Outcome } from './executor.ts'
import {
  definitionWith,
  executorOn,
  inputOf,
  runningPod,
  SPEC,
  submitted,
  submittedWith,
} from './fixtures/kubernetes.ts'

const SUCCESS: Outcome = { status: 'succeeded', resultText: '{"n":1}' }

function errorOf(outcome: Outcome) {
  if (outcome.status !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`)
  return outcome.error
}

describe('an attempt', () => {
  it('is a Job with the name, labels and limits of the attempt, which knows where to ask and with which ticket', async () => {
    const started = await submittedWith()
    const pod = await runningPod(started)
    const { input } = started.attempt
    const [job] = started.api.jobs()
    expect(job).toMatchObject({
      metadata: {
        name: started.name,
        labels: {
          'app.kubernetes.io/managed-by': 'holdfast',
          'holdfast.dev/run-id': input.runId,
          'holdfast.dev/attempt': '1',
          'holdfast.dev/model': 'forecast',
        },
        annotations: { 'holdfast.dev/model': 'forecast@1' },
      },
      spec: {
        backoffLimit: 0,
        podReplacementPolicy: 'Failed',
        activeDeadlineSeconds: 60,
        ttlSecondsAfterFinished: 3600,
      },
    })
    const { spec } = job!.spec.template
    expect(spec).toMatchObject({ restartPolicy: 'Never', automountServiceAccountToken: false })
    expect(pod.env).toMatchObject({
      HOLDFAST_URL: 'http://service.example',
      HOLDFAST_RUN_ID: input.runId,
      HOLDFAST_ATTEMPT: '1',
      HOLDFAST_TICKET: expect.stringMatching(/^hft_.{43}$/),
    })
    expect(
      started.attempt.answer('start', { 'holdfast-ticket': pod.env.HOLDFAST_TICKET }, { token_hash: 'x' })[0],
    ).toBe(200)
    expect(JSON.stringify(job)).not.toContain(pod.env.HOLDFAST_TICKET)
  })

  it('is noted before Kubernetes is asked, and again with pod and uid at the first sign of life', async () => {
    const api = await kubeApi()
    const attempt = new EngineAttempt(inputOf())
    attempt.beforeHandOver = () => expect(api.seen.filter(({ method }) => method === 'POST')).toEqual([])
    const executor = executorOn(api)
    await executor.submit(attempt.input, attempt.reports)
    const name = `run-${attempt.input.runId}-a1`
    expect(attempt.handOvers).toEqual([{ namespace: 'default', job: name }])
    const pod = await runningPod({ api, attempt, name })
    const { uid } = api.jobs()[0]!.metadata
    expect(attempt.alives).toEqual([{ namespace: 'default', job: name, uid, pod: pod.name }])
  })

  it('makes no Job when it cannot be noted', async () => {
    const api = await kubeApi()
    const attempt = new EngineAttempt(inputOf())
    attempt.beforeHandOver = () => {
      throw new Error('the lease is lost')
    }
    await expect(executorOn(api).submit(attempt.input, attempt.reports)).rejects.toThrow('the lease is lost')
    expect(api.jobs()).toEqual([])
  })

  it('succeeds with what its program says, though the Job has not ended', async () => {
    const started = await submittedWith()
    await runningPod(started)
    started.attempt.say(SUCCESS)
    expect(await ended(started.outcome)).toEqual(SUCCESS)
  })

  it('fails with the error its program tells, whatever the exit code', async () => {
    const started = await submittedWith()
    const pod = await runningPod(started)
    const error = { class: 'ValueError', message: 'bad input', stack: 'Traceback …' }
    started.attempt.say({ status: 'failed', error })
    pod.exit(0)
    expect(await ended(started.outcome)).toEqual({ status: 'failed', error })
  })

  it('takes the outcome from the termination message when the callback never came', async () => {
    const message = JSON.stringify({ ok: true, result: { b: 1, a: 2 } })
    const { outcome } = await submittedWith((pod) => {
      pod.start()
      pod.exit(0, { message })
    })
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '{"a":2,"b":1}' })
  })

  it.each([
    [{ ok: true, result: 1, cost: 2.5 }, 0, { status: 'succeeded', cost: 2.5 }],
    [{ ok: false, error: { class: 'E', message: 'm' }, cost: 0.0000014 }, 1, { status: 'failed', cost: 0.000001 }],
  ])('takes the cost from the termination message too: %j', async (said, code, expected) => {
    const { outcome } = await submittedWith((pod) => {
      pod.start()
      pod.exit(code, { message: JSON.stringify(said) })
    })
    expect(await ended(outcome)).toMatchObject(expected)
  })

  it('that says no amount as its cost keeps its result', async () => {
    const { outcome } = await submittedWith((pod) => {
      pod.start()
      pod.exit(0, { message: JSON.stringify({ ok: true, result: 1, cost: -1 }) })
    })
    expect(await ended(outcome)).toEqual({ status: 'succeeded', resultText: '1' })
  })

  it('that completes without an outcome fails', async () => {
    const { outcome } = await submittedWith((pod) => {
      pod.start()
      pod.exit(0)
    })
    expect(errorOf(await ended(outcome))).toMatchObject({ class: 'NoOutcome' })
  })

  it('that ends by itself fails with its exit code and its last words', async () => {
    const { outcome } = await submittedWith((pod) => {
      pod.start()
      pod.exit(3, { message: 'Traceback: no such file' })
    })
    const error = errorOf(await ended(outcome))
    expect(error).toMatchObject({ class: 'ContainerFailed', exitCode: 3 })
    expect(error.message).toContain('Traceback: no such file')
  })

  it('that is killed for its memory says so', async () => {
    const { outcome } = await submittedWith((pod) => {
      pod.start()
      pod.exit(137, { reason: 'OOMKilled' })
    })
    expect(errorOf(await ended(outcome))).toMatchObject({ class: 'OutOfMemory', exitCode: 137 })
  })

  it('that is evicted may be retried', async () => {
    const { outcome } = await submittedWith((pod) => {
      pod.start()
      pod.evict('The node was low on resource: memory.')
    })
    const error = errorOf(await ended(outcome))
    expect(error).toMatchObject({ class: 'PodEvicted', retryable: true })
    expect(error.message).toContain('low on resource')
  })

  it('whose image cannot be had fails after the grace, and its Job is deleted', async () => {
    const { api, outcome } = await submittedWith((pod) => pod.waiting('ImagePullBackOff', 'no such image'))
    expect(errorOf(await ended(outcome))).toMatchObject({
      class: 'ImagePullFailed',
      message: expect.stringContaining('no such image'),
    })
    expect(api.jobs()).toEqual([])
    expect(api.pods()).toEqual([])
  })

  it('whose image comes within the grace goes on', async () => {
    const started = await submittedWith(async (pod) => {
      pod.waiting('ErrImagePull', 'registry is away')
      await until(() => started.attempt.logged.some((line) => line.includes('registry is away')), {
        what: 'it is told',
      })
      pod.start()
    })
    await runningPod(started)
    started.attempt.say(SUCCESS)
    expect(await ended(started.outcome)).toEqual(SUCCESS)
  })

  it('that Kubernetes ends at its deadline has timed out', async () => {
    const api = await kubeApi()
    const started = await submitted(api)
    await runningPod(started)
    api.storage.update('jobs', 'default', started.name, (job) => {
      const failed = { type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }
      job.status.conditions = [failed]
    })
    expect(errorOf(await ended(started.outcome))).toMatchObject({ class: 'Timeout' })
  })

  it('whose time is over is deleted and has timed out', async () => {
    const api = await kubeApi()
    const { outcome } = await submitted(api, executorOn(api), { timeoutMs: 300 })
    expect(errorOf(await ended(outcome))).toMatchObject({ class: 'Timeout' })
    await until(() => api.jobs().length === 0, { what: 'the Job is gone' })
  })

  it('prints into the log of the attempt, each line once although the connection breaks', async () => {
    const started = await submittedWith()
    const pod = await runningPod(started)
    pod.print('one', 'two')
    await until(() => started.attempt.output.includes('two'), { what: 'two lines came' })
    started.api.cutStreams()
    pod.print('three', 'three')
    await until(() => started.attempt.output.endsWith('three\nthree\n'), { what: 'the rest came' })
    pod.print('four')
    started.attempt.say(SUCCESS)
    pod.exit(0)
    await ended(started.outcome)
    expect(started.attempt.output).toBe('one\ntwo\nthree\nthree\nfour\n')
  })

  it('has the lines of a program that said how it ended before anybody looked', async () => {
    const started = await submittedWith((pod) => {
      pod.start()
      pod.print('quick')
      started.attempt.say(SUCCESS)
      pod.exit(0)
    })
    expect(await ended(started.outcome)).toEqual(SUCCESS)
    expect(started.attempt.output).toBe('quick\n')
  })

  it('has the last lines of a pod that ended at once', async () => {
    const started = await submittedWith((pod) => {
      pod.start()
      pod.print('it is broken')
      pod.exit(1)
    })
    await ended(started.outcome)
    expect(started.attempt.output).toBe('it is broken\n')
  })
})

describe('a model', () => {
  it('brings resources, labels, service account, namespace and queue, and never loses our labels', async () => {
    const api = await kubeApi()
    const kubernetes = {
      ...SPEC,
      namespace: 'models',
      resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } },
      labels: { team: 'a', 'holdfast.dev/run-id': 'stolen' },
      serviceAccount: 'model',
      queueName: 'gpu',
    }
    const started = await submitted(api, executorOn(api, { specOf: () => definitionWith({ kubernetes }) }))
    await until(() => api.jobs('models').length === 1, { what: 'the Job is there' })
    const [job] = api.jobs('models')
    expect(job).toMatchObject({
      metadata: {
        labels: {
          team: 'a',
          'kueue.x-k8s.io/queue-name': 'gpu',
          'holdfast.dev/run-id': started.attempt.input.runId,
        },
      },
    })
    expect(job!.spec.template.spec).toMatchObject({ serviceAccountName: 'model' })
    expect(job!.spec.template.spec.containers[0]).toMatchObject({ image: SPEC.image, resources: kubernetes.resources })
  })

  it('that is queued by Kueue waits, is not let go on by us, and runs when it is admitted', async () => {
    const api = await kubeApi({ kueue: true })
    const kubernetes = { ...SPEC, queueName: 'gpu' }
    const started = await submitted(api, executorOn(api, { specOf: () => definitionWith({ kubernetes }) }))
    await until(() => started.attempt.logged.some((line) => line.includes('suspended')), { what: 'it is told' })
    expect(started.attempt.alives).toEqual([])
    expect(api.jobs()[0]!.spec.suspend).toBe(true)
    api.cluster.admit('default', started.name)
    await runningPod(started)
  })

  it('that says nothing of Kubernetes is refused before anything is noted', async () => {
    const api = await kubeApi()
    const attempt = new EngineAttempt(inputOf())
    const executor = executorOn(api, { specOf: () => definitionWith({ kubernetes: undefined }) as never })
    await expect(executor.submit(attempt.input, attempt.reports)).rejects.toThrow(
      'does not say how to run on Kubernetes',
    )
    expect(attempt.handOvers).toEqual([])
  })

  it('whose Job the API server refuses fails with its words, for good', async () => {
    const api = await kubeApi()
    const kubernetes = { ...SPEC, labels: { team: 'no spaces allowed' } }
    const { outcome } = await submitted(api, executorOn(api, { specOf: () => definitionWith({ kubernetes }) }))
    expect(errorOf(await ended(outcome))).toMatchObject({
      class: 'JobRefused',
      retryable: false,
      message: expect.stringContaining('no spaces allowed'),
    })
  })

  it('for which the rights are missing fails with what is missing, and may be retried', async () => {
    const api = await kubeApi()
    api.forbidden.add('create jobs')
    const error = errorOf(await ended((await submitted(api)).outcome))
    expect(error).toMatchObject({ class: 'JobRefused', message: expect.stringContaining('cannot create resource') })
    expect(error).not.toHaveProperty('retryable')
  })

  it('whose Secret cannot be made fails, and its Job is deleted', async () => {
    const api = await kubeApi()
    api.forbidden.add('create secrets')
    const { outcome } = await submitted(api)
    expect(errorOf(await ended(outcome))).toMatchObject({ class: 'SecretRefused' })
    expect(api.jobs()).toEqual([])
  })
})

describe('room', () => {
  it('is what the cap leaves, and comes back when attempts end', async () => {
    const api = await kubeApi()
    const executor = executorOn(api, { jobsMax: 1 })
    expect(executor.room()).toBe(1)
    const started = await submitted(api, executor)
    expect(executor.room()).toBe(0)
    started.attempt.say(SUCCESS)
    await ended(started.outcome)
    expect(executor.room()).toBe(1)
  })
})

describe('the sweep', () => {
  it('deletes Jobs of this service whose attempt is over, and no others', async () => {
    const api = await kubeApi()
    const orphan = await submitted(api)
    await runningPod(orphan)
    const foreign = await submitted(api, executorOn(api, { installation: 'elsewhere' }))
    await runningPod(foreign)
    const swept: string[] = []
    const current = await submitted(
      api,
      executorOn(api, {
        isCurrent: async ({ runId }) => runId !== orphan.attempt.input.runId,
        onSwept: ({ runId }) => swept.push(runId),
        sweepEveryMs: 20,
      }),
    )
    await until(() => !api.jobs().some(({ metadata }) => metadata.name === orphan.name), { what: 'the orphan is gone' })
    expect(swept).toEqual([orphan.attempt.input.runId])
    expect(
      api
        .jobs()
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    ).toEqual([current.name, foreign.name].toSorted())
  })
})

describe('refusals of the moment', () => {
  it('a conflict that is not about the name is tried again', async () => {
    const api = await kubeApi()
    api.failNext('POST', /jobs$/, refusal(409, 'Conflict', 'the quota has been modified'))
    const started = await submitted(api)
    await runningPod(started)
    expect(api.jobs()).toHaveLength(1)
  })
})
