import { once } from 'node:events'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
import { createOpenDownloads } from './open-downloads.ts'

test('what is still under way after the grace is broken off, and what has ended is left alone', async () => {
  const downloads = createOpenDownloads(1)
  const [endless, done] = [new Readable({ read() {} }), Readable.from(['x'])]
  const broken = once(endless, 'error')
  for (const stream of [endless, done]) downloads.add(stream)
  await done.toArray()
  await until(() => done.closed, { what: 'the short one has ended' })
  downloads.close()
  expect((await broken)[0]).toMatchObject({ message: 'the service is shutting down' })
  expect(done.errored).toBeNull()
})
