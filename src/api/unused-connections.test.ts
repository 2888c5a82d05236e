import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createTestApi } from '../../test/support/api.ts'

test('a connection that never asked for anything does not hold up the end of the service', async () => {
  const { app } = await createTestApi()
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const accepted = once(app.server, 'connection')
  const socket = connect(Number(port), '127.0.0.1')
  await accepted
  const closed = once(socket.resume(), 'close')
  const begun = performance.now()
  await app.close()
  await closed
  expect(performance.now() - begun).toBeLessThan(2_000)
})
