/** Whole runs on Kubernetes: API and workers as processes of their own, an API server of Kubernetes in this one, and pods that are real programs. */

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { gone } from '../../src/executor/fixtures/attempts.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { getRun, postRun, runEnds } from '../support/http.ts'
import { KubeApi } from '../support/kube-api.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { until } from '../support/until.ts'

const MODELS = `models:
  - name: counted
    parameters: {type: object}
    executor: kubernetes
    python: counted:run
    kubernetes: {image: "registry.example/counted:1"}
    retry: {max_attempts: 1}
`

/** Counts its own starts, and waits for a file when asked to. */
const COUNTED = `
import os, time
def run(parameters):
    folder = parameters["folder"]
    with open(os.path.join(folder, parameters["name"] + ".starts"), "a") as file:
        file.write(str(os.getpid()) + "\\n")
    print("started", flush=True)
    while parameters.get("go") and not os.path.exists(os.path.join(folder, parameters["go"])):
        time.sleep(0.02)
    return {"n": parameters["n"] + 1}
`

let place: Place
let database: TestDatabase
let kubernetes: KubeApi
let url: string
beforeAll(async () => {
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url, HOLDFAST_MODELS: 'models.yaml' })
  kubernetes = new KubeApi({
    work: (pod) =>
      void pod.runProcess(pod.object!.spec.containers[0].command, { PYTHONPATH: place.folder, HOME: place.folder }),
  })
  await kubernetes.start()
  kubernetes.tokens.add('the-token')
  const config = {
    'current-context': 'here',
    clusters: [{ name: 'c', cluster: { server: kubernetes.url } }],
    users: [{ name: 'u', user: { token: 'the-token' } }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'models' } }],
  }
  await writeFile(join(place.folder, 'kubeconfig'), stringify(config))
  await writeFile(join(place.folder, 'models.yaml'), MODELS)
  await writeFile(join(place.folder, 'counted.py'), COUNTED)
  url = (await place.startApi()).url
})
afterAll(async () => {
  kubernetes.cluster.close()
  await kubernetes.stop()
  await place.close()
  await database.drop()
})

const startWorker = () =>
  place.startWorker({
    HOLDFAST_KUBERNETES: 'kubeconfig',
    KUBECONFIG: 'kubeconfig',
    HOLDFAST_PUBLIC_URL: url,
    HOLDFAST_LEASE_SECONDS: '1.5',
  })

function startsOf(name: string): string[] {
  try {
    return readFileSync(join(place.folder, `${name}.starts`), 'utf8')
      .trim()
      .split('\n')
  } catch {
    return []
  }
}

const submit = async (parameters: object) =>
  (await postRun(url, 'counted', { folder: place.folder, n: 1, ...parameters })).run.run_id

it('a run succeeds with the result its pod delivered, and its log is there', { timeout: 60_000 }, async () => {
  const worker = await startWorker()
  const runId = await submit({ name: 'plain' })
  const run = await runEnds(url, runId)
  expect(run).toMatchObject({
    status: 'SUCCEEDED',
    attempts: [{ executor: 'kubernetes', external_ref: { namespace: 'models', job: `run-${runId}-a1` } }],
  })
  expect(await (await fetch(`${url}/runs/${runId}/result`)).json()).toEqual({ n: 2 })
  await until(async () => (await (await fetch(`${url}/runs/${runId}/logs`)).text()).includes('started'), {
    what: 'its log is there',
  })
  worker.kill('SIGTERM')
  expect((await worker.exited).code).toBe(0)
})

it('a worker that is killed is followed by one that adopts: started once', { timeout: 60_000 }, async () => {
  const first = await startWorker()
  const runId = await submit({ name: 'adopted', go: 'go-adopted' })
  await until(() => startsOf('adopted').length === 1, { what: 'the program has started', timeoutMs: 20_000 })
  first.kill('SIGKILL')
  const second = await startWorker()
  await until(async () => (await getRun(url, runId)).lease?.owner === second.workerId, {
    what: 'the second worker has the lease',
    timeoutMs: 20_000,
  })
  await place.touch('go-adopted')
  expect(await runEnds(url, runId)).toMatchObject({ status: 'SUCCEEDED', attempt_count: 1 })
  expect(startsOf('adopted')).toHaveLength(1)
  expect(kubernetes.cluster.podsOf(`run-${runId}-a1`)).toHaveLength(1)
  second.kill('SIGTERM')
  expect((await second.exited).code).toBe(0)
})

it('a cancelled run ends when its pod is gone', { timeout: 60_000 }, async () => {
  const worker = await startWorker()
  const runId = await submit({ name: 'cancelled', go: 'never' })
  const [pid = ''] = await until(() => startsOf('cancelled').length > 0 && startsOf('cancelled'), {
    what: 'the program has started',
    timeoutMs: 20_000,
  })
  await fetch(`${url}/runs/${runId}/cancel`, { method: 'POST' })
  expect(await runEnds(url, runId)).toMatchObject({ status: 'CANCELLED' })
  await gone([Number(pid)])
  expect(kubernetes.jobs('models').map(({ metadata }) => metadata.name)).not.toContain(`run-${runId}-a1`)
  worker.kill('SIGTERM')
  expect((await worker.exited).code).toBe(0)
})
