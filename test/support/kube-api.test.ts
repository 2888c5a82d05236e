/** Pins the in-process Kubernetes API server to how the real one behaves, so that tests against it mean something. */

import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type KubeApi, kubeApi } from './kube-api.ts'
import { until } from './until.ts'

const JOBS = '/apis/batch/v1/namespaces/default/jobs'
const PODS = '/api/v1/namespaces/default/pods'

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it gets.
type Answer = { status: number; headers: Record<string, any>; text: string; body: any }

function ask(api: KubeApi, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
  const sentText = body === undefined ? '' : JSON.stringify(body)
  const length = { 'content-length': String(Buffer.byteLength(sentText)) }
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...headers, ...length }, agent: false } as const
    const sent = request(`${api.url}${path}`, options, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      const json = text.startsWith('{') && !text.includes('}\n{') ? JSON.parse(text) : null
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: json })
    })
    sent.on('error', reject)
    sent.end(sentText)
  })
}

function job(name: string, spec: object = {}, metadata: object = {}) {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'run', image: 'x' }] } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, ...metadata },
    spec: { backoffLimit: 0, template, ...spec },
  }
}

const conditions = (api: KubeApi) => api.jobs()[0]?.status?.conditions?.map(({ type }: { type: string }) => type) ?? []

async function withRunningJob(api: KubeApi, name = 'one') {
  await ask(api, 'POST', JOBS, job(name))
  return until(() => api.cluster.pods.find((pod) => pod.object?.status.phase === 'Running'), { what: 'its pod runs' })
}

describe('creating', () => {
  it('a second Job of the same name is 409 AlreadyExists', async () => {
    const api = await kubeApi()
    expect((await ask(api, 'POST', JOBS, job('one'))).status).toBe(201)
    const again = await ask(api, 'POST', JOBS, job('one'))
    expect(again).toMatchObject({ status: 409, body: { kind: 'Status', reason: 'AlreadyExists', code: 409 } })
  })

  it.each([
    ['spec.backofLimit', job('one', { backofLimit: 0 })],
    ['metadata.lables', job('one', {}, { lables: {} })],
    [
      'spec.template.spec.containers[0].comand',
      job('one', {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'run', image: 'x', comand: [] }] } },
      }),
    ],
  ])('the unknown field %s is refused', async (field, body) => {
    const answer = await ask(await kubeApi(), 'POST', JOBS, body)
    expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
    expect(answer.body.message).toContain(`unknown field "${field}"`)
  })

  it.each([
    ['a name with capitals', job('One')],
    ['a name that is too long', job('x'.repeat(64))],
    ['a label with a space', job('one', {}, { labels: { a: 'b c' } })],
    ['restartPolicy Always', job('one', { template: { spec: { restartPolicy: 'Always', containers: [{}] } } })],
    ['a fraction of a second', job('one', { activeDeadlineSeconds: 1.5 })],
  ])('%s is 422 Invalid', async (_what, body) => {
    expect(await ask(await kubeApi(), 'POST', JOBS, body)).toMatchObject({ status: 422, body: { reason: 'Invalid' } })
  })
})

describe('access', () => {
  it('without the right token is 401, without the right 403', async () => {
    const api = await kubeApi()
    api.tokens.add('good')
    expect(await ask(api, 'GET', JOBS)).toMatchObject({ status: 401, body: { reason: 'Unauthorized' } })
    const headers = { authorization: 'Bearer good' }
    expect((await ask(api, 'GET', JOBS, undefined, headers)).status).toBe(200)
    api.forbidden.add('list jobs')
    expect(await ask(api, 'GET', JOBS, undefined, headers)).toMatchObject({
      status: 403,
      body: { reason: 'Forbidden' },
    })
  })
})

describe('the life of a Job', () => {
  it('its status comes later than itself, and the end is announced before it is there', async () => {
    const api = await kubeApi()
    const created = await ask(api, 'POST', JOBS, job('one'))
    expect(created.body.status).toBeUndefined()
    const pod = await until(() => api.cluster.pods[0], { what: 'a pod is made' })
    expect(pod.object!.metadata).toMatchObject({
      labels: { 'job-name': 'one', 'batch.kubernetes.io/job-name': 'one' },
      ownerReferences: [{ kind: 'Job', name: 'one', uid: created.body.metadata.uid }],
    })
    const seen: string[][] = []
    api.storage.onEvent(({ resource }) => void (resource === 'jobs' && seen.push(conditions(api))))
    pod.exit(1)
    await until(() => conditions(api).includes('Failed'), { what: 'it has failed' })
    expect(seen).toContainEqual(['FailureTarget'])
    expect(api.jobs()[0]!.status.conditions.at(-1)).toMatchObject({ reason: 'BackoffLimitExceeded' })
  })

  it('a suspended one has no pod until it is let go on', async () => {
    const api = await kubeApi()
    await ask(api, 'POST', JOBS, job('one', { suspend: true }))
    await ask(api, 'POST', JOBS, job('two'))
    await until(() => api.cluster.podsOf('two').length, { what: 'the other has a pod' })
    expect(api.cluster.podsOf('one')).toEqual([])
    api.cluster.admit('default', 'one')
    await until(() => api.cluster.podsOf('one').length, { what: 'it has one too' })
  })

  it('past its deadline it fails with that reason and its pod is stopped', async () => {
    const api = await kubeApi()
    await ask(api, 'POST', JOBS, job('one', { activeDeadlineSeconds: 0 }))
    await until(() => conditions(api).includes('Failed'), { what: 'it has failed' })
    expect(api.jobs()[0]!.status.conditions[0]).toMatchObject({ reason: 'DeadlineExceeded' })
  })

  it('past its time to live it is gone with its pods', async () => {
    const api = await kubeApi()
    await ask(api, 'POST', JOBS, job('one', { ttlSecondsAfterFinished: 0 }))
    const pod = await until(() => api.cluster.pods[0], { what: 'its pod is there' })
    pod.exit(0)
    await until(() => api.jobs().length + api.pods().length === 0, { what: 'both are gone' })
  })
})

describe('deleting a Job', () => {
  it('without a policy leaves its pods running, with a warning', async () => {
    const api = await kubeApi()
    const pod = await withRunningJob(api)
    const { headers } = await ask(api, 'DELETE', `${JOBS}/one`)
    expect(headers.warning).toContain('child pods are preserved by default')
    await ask(api, 'POST', JOBS, job('two'))
    await until(() => api.cluster.podsOf('two').length, { what: 'the controllers have gone on' })
    expect(api.jobs().map(({ metadata }) => metadata.name)).toEqual(['two'])
    expect(pod.isOver).toBe(false)
    expect(pod.object!.metadata.ownerReferences).toBeUndefined()
  })

  it('in the background is at once, and its pods go after it', async () => {
    const api = await kubeApi()
    await withRunningJob(api)
    await ask(api, 'DELETE', `${JOBS}/one?propagationPolicy=Background`)
    expect((await ask(api, 'GET', `${JOBS}/one`)).status).toBe(404)
    expect(api.pods()).toHaveLength(1)
    await until(() => api.pods().length === 0, { what: 'the pod is gone' })
  })

  it('in the foreground keeps it until its pods are gone', async () => {
    const api = await kubeApi()
    const pod = await withRunningJob(api)
    pod.ignoresStop = true
    await ask(api, 'DELETE', `${JOBS}/one`, { propagationPolicy: 'Foreground' })
    await pod.stopAsked
    expect(api.jobs()[0]!.metadata.deletionTimestamp).toBeTruthy()
    pod.exit(137)
    await until(() => api.jobs().length === 0, { what: 'the Job is gone' })
    expect(api.pods()).toEqual([])
  })

  it('of another uid than meant is 409 Conflict', async () => {
    const api = await kubeApi()
    await withRunningJob(api)
    const answer = await ask(api, 'DELETE', `${JOBS}/one`, { preconditions: { uid: 'other' } })
    expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
  })
})

describe('lists and watches', () => {
  it('a list comes in pages, by labels, with a version to watch from', async () => {
    const api = await kubeApi()
    for (const name of ['a', 'b', 'c']) await ask(api, 'POST', JOBS, job(name, {}, { labels: { x: 'y' } }))
    await ask(api, 'POST', JOBS, job('d'))
    const first = await ask(api, 'GET', `${JOBS}?limit=2&labelSelector=x%3Dy`)
    expect(first.body.items).toHaveLength(2)
    const rest = await ask(api, 'GET', `${JOBS}?limit=2&labelSelector=x%3Dy&continue=${first.body.metadata.continue}`)
    expect(rest.body.items).toHaveLength(1)
    expect(rest.body.metadata.continue).toBeUndefined()
    expect(Number(rest.body.metadata.resourceVersion)).toBeGreaterThan(0)
  })

  it('a watch tells what happened since a version, with bookmarks, until its time is over', async () => {
    const api = await kubeApi()
    const { body } = await ask(api, 'GET', JOBS)
    await ask(api, 'POST', JOBS, job('one', { suspend: true }))
    const since = `watch=true&allowWatchBookmarks=true&timeoutSeconds=0.2&resourceVersion=${body.metadata.resourceVersion}`
    const { text } = await ask(api, 'GET', `${JOBS}?${since}`)
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'one' } } })
    expect(events.at(-1)).toMatchObject({ type: 'BOOKMARK' })
    expect(Object.keys(events.at(-1).object.metadata)).toEqual(['resourceVersion'])
  })

  it('a watch from before compaction is told 410 Expired', async () => {
    const api = await kubeApi()
    const { body } = await ask(api, 'GET', JOBS)
    api.storage.compact()
    const { text } = await ask(api, 'GET', `${JOBS}?watch=true&resourceVersion=${body.metadata.resourceVersion}`)
    expect(JSON.parse(text)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })
  })

  it('objects and versions survive a restart', async () => {
    const api = await kubeApi()
    await ask(api, 'POST', JOBS, job('one', { suspend: true }))
    const { url } = api
    await api.stop()
    await expect(ask(api, 'GET', JOBS)).rejects.toThrow('ECONNREFUSED')
    await api.start()
    expect(api.url).toBe(url)
    expect((await ask(api, 'GET', JOBS)).body.items).toHaveLength(1)
  })
})

describe('pods', () => {
  it('one whose Secret is missing waits for it and starts when it comes', async () => {
    const api = await kubeApi()
    const env = [{ name: 'TICKET', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }]
    const spec = { restartPolicy: 'Never', containers: [{ name: 'run', image: 'x', env }] }
    await ask(api, 'POST', JOBS, job('one', { template: { spec } }))
    const pod = await until(() => api.cluster.pods[0], { what: 'its pod is there' })
    expect(pod.object!.status.containerStatuses[0].state.waiting.reason).toBe('CreateContainerConfigError')
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k: btoa('hello') } }
    await ask(api, 'POST', '/api/v1/namespaces/default/secrets', secret)
    await until(() => pod.object?.status.phase === 'Running', { what: 'it runs' })
    expect(pod.env).toEqual({ TICKET: 'hello' })
  })

  it('logs: not before it runs, then by time, size and tail, gone with the pod', async () => {
    const api = await kubeApi({ work: (pod) => pod.waiting('ContainerCreating') })
    await ask(api, 'POST', JOBS, job('one'))
    const pod = await until(() => api.cluster.pods[0], { what: 'its pod is there' })
    const path = `${PODS}/${pod.name}/log`
    expect(await ask(api, 'GET', path)).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
    pod.start()
    pod.lines.push({ at: '2026-01-01T00:00:00.5Z', text: 'a' }, { at: '2026-01-01T00:00:01.5Z', text: 'b' })
    expect((await ask(api, 'GET', path)).text).toBe('a\nb\n')
    expect((await ask(api, 'GET', `${path}?sinceTime=2026-01-01T00:00:01Z&timestamps=true`)).text).toBe(
      '2026-01-01T00:00:01.5Z b\n',
    )
    expect((await ask(api, 'GET', `${path}?limitBytes=3`)).text).toBe('a\nb')
    expect((await ask(api, 'GET', `${path}?tailLines=1`)).text).toBe('b\n')
    const followed = ask(api, 'GET', `${path}?follow=true`)
    await until(() => api.streamCount === 1, { what: 'it is followed' })
    pod.print('c')
    pod.exit(0)
    expect((await followed).text).toBe('a\nb\nc\n')
    await ask(api, 'DELETE', `${JOBS}/one?propagationPolicy=Background`)
    await until(() => api.pods().length === 0, { what: 'the pod is gone' })
    expect((await ask(api, 'GET', path)).status).toBe(404)
  })

  it('can be a real program, with the environment of the Job, its output, its exit code and its last words', async () => {
    const script =
      'console.log(process.env.GREETING); require("fs").writeFileSync(process.env.TERMINATION_LOG, "bye"); process.exit(4)'
    const api = await kubeApi({ work: async (pod) => void (await pod.runProcess([process.execPath, '-e', script])) })
    const containers = [{ name: 'run', image: 'x', env: [{ name: 'GREETING', value: 'hello' }] }]
    await ask(api, 'POST', JOBS, job('one', { template: { spec: { restartPolicy: 'Never', containers } } }))
    const pod = await until(() => api.cluster.pods.find(({ isOver }) => isOver), { what: 'it has ended' })
    expect(pod.lines.map(({ text }) => text)).toEqual(['hello'])
    expect(pod.object!.status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 4, message: 'bye' })
  })
})
