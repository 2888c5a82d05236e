import { expect, onTestFinished, test } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { type ProbeOptions, startProbe } from './probe.ts'

async function open(changes: Partial<ProbeOptions> = {}): Promise<string> {
  const probe = await startProbe({
    host: '127.0.0.1',
    port: 0,
    metrics: createMetrics({ processMetrics: false }),
    ping: async () => {},
    isStopping: () => false,
    log: recordingLog().log,
    ...changes,
  })
  onTestFinished(probe.close)
  return probe.url
}

test('metrics are those of the process, with their content type', async () => {
  const metrics = createMetrics({ processMetrics: false })
  metrics.runsSucceeded.inc(3)
  const response = await fetch(`${await open({ metrics })}/metrics`)
  expect(response.headers.get('content-type')).toBe(metrics.contentType)
  expect(await response.text()).toContain('runs_succeeded_total 3')
})

test('a worker is live while it answers, and ready while its database does', async () => {
  const url = await open({ ping: () => Promise.reject(new Error('gone')) })
  expect((await fetch(`${url}/livez`)).status).toBe(200)
  const response = await fetch(`${url}/readyz`)
  expect([response.status, await response.json()]).toEqual([503, { status: 'unavailable' }])
  expect((await fetch(`${await open()}/readyz?verbose`)).status).toBe(200)
})

test('a worker that stops is live and not ready', async () => {
  const url = await open({ isStopping: () => true })
  expect((await fetch(`${url}/livez`)).status).toBe(200)
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
})

test('other paths and methods are refused, and a failure is no crash', async () => {
  const text = () => Promise.reject(new Error('broken'))
  const url = await open({ metrics: { contentType: 'text/plain', text } })
  expect((await fetch(`${url}/runs`)).status).toBe(404)
  const posted = await fetch(`${url}/livez`, { method: 'POST', body: 'x' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  expect((await fetch(`${url}/metrics`)).status).toBe(500)
  const head = await fetch(`${url}/livez`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('a port that is taken is an error of the start', async () => {
  const url = await open()
  await expect(open({ port: Number(new URL(url).port) })).rejects.toThrow('EADDRINUSE')
})
