/** Only a body that does not arrive ends a request; how long the answer takes is another matter. That such a body is answered 408: problem.test.ts. */

import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createTestApi, type TestApi } from '../../test/support/api.ts'
import { until } from '../../test/support/until.ts'

const HEAD = 'POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const BODY = '{"model":"forecast","parameters":{"scenario":"x"},"dedupe":"off"}'
const whole = (more = '') => `${HEAD}${more}Content-Length: ${BODY.length}\r\n\r\n${BODY}`

async function open(): Promise<{ api: TestApi; socket: Socket; seen: () => string }> {
  const api = await createTestApi({ config: { http: { bodyLimitBytes: 1_000, requestTimeoutMs: 60 } } })
  const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
  const socket = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let seen = ''
  socket.on('data', (chunk) => {
    seen += chunk
  })
  return { api, socket, seen: () => seen }
}

test('a request that is there and waits for its run is not ended', async () => {
  const { socket, seen } = await open()
  socket.write(whole('Prefer: wait=1\r\n'))
  await until(() => seen().includes('"status":"PENDING"'), { what: 'the answer' })
  expect(seen()).toMatch(/^HTTP\/1.1 201 /)
})

test('on a connection that was used before, the body that does not come is the one that counts', async () => {
  const { api, socket, seen } = await open()
  socket.write(whole())
  await until(() => seen().includes('"status":"PENDING"'), { what: 'the first answer' })
  socket.write(`${HEAD}Content-Length: 100\r\n\r\n{`)
  await until(() => seen().includes('request-timeout'), { what: 'the second answer' })
  expect((await api.stored()).runs).toBe(1)
})

test('an idle connection is left alone', async () => {
  const { socket, seen } = await open()
  socket.write(whole())
  await until(() => seen().includes('"status":"PENDING"'), { what: 'the first answer' })
  const { api, socket: slow, seen: slowSeen } = await open()
  slow.write(`${HEAD}Content-Length: 100\r\n\r\n{`)
  await until(() => slowSeen().includes('request-timeout'), { what: 'others are given up' })
  expect([socket.destroyed, api.app.server.listening]).toEqual([false, true])
})
