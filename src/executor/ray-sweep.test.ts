/** Sweeping: what is an orphan, and what is not. */

import { expect, it } from 'vitest'
import { act, type RayStub, rayStub } from '../../test/support/ray-stub.ts'
import { loses } from '../../test/support/scripted-http.ts'
import { RayClient } from './ray-client.ts'
import { attemptOfSubmission } from './ray-spec.ts'
import { sweepRayJobs } from './ray-sweep.ts'

const RUN = '01890000-0000-7000-8000-00000000000'

function place(stub: RayStub, submission_id: string, metadata: object = { holdfast: 'here' }): void {
  act(stub, { method: 'POST', path: '/api/jobs/', headers: {}, text: '', json: () => ({ submission_id, metadata }) })
}

it('stops jobs of ours whose attempt is not current, and no other', async () => {
  const stub = await rayStub()
  for (const number of [1, 2, 3]) place(stub, `run-${RUN}${number}-a1`)
  place(stub, `run-${RUN}4-a1`, { holdfast: 'elsewhere' })
  place(stub, 'pool-default-1')
  place(stub, 'somebody-elses', {})
  stub.change(`run-${RUN}3-a1`, { status: 'SUCCEEDED' })
  const swept: string[] = []
  const client = new RayClient({ address: stub.url })
  const count = await sweepRayJobs({
    clusters: new Map([['default', client]]),
    installation: 'here',
    isCurrent: async ({ runId }) => runId === `${RUN}1`,
    onStopped: ({ runId, attempt, cluster }) => void swept.push(`${cluster} ${runId} ${attempt}`),
  })
  expect(count).toBe(1)
  expect(stub.stops).toEqual([`run-${RUN}2-a1`])
  expect(swept).toEqual([`default ${RUN}2 1`])
  client.close()
})

it('looks at the other clusters when one is away', async () => {
  const [away, there] = [await rayStub(), await rayStub()]
  away.down = loses()
  place(there, `run-${RUN}1-a2`)
  const clients = [away, there].map(({ url }) => new RayClient({ address: url }))
  const clusters = new Map(clients.map((client, index) => [`c${index}`, client]))
  expect(await sweepRayJobs({ clusters, installation: 'here', isCurrent: async () => false })).toBe(1)
  for (const client of clients) client.close()
})

it('reads no attempt out of a name that is not one', () => {
  expect(attemptOfSubmission(`run-${RUN}1-a12`)).toEqual({ runId: `${RUN}1`, attempt: 12 })
  for (const name of ['', 'run-x-a1', `run-${RUN}1-a0`, `run-${RUN}1`, `xrun-${RUN}1-a1`]) {
    expect(attemptOfSubmission(name)).toBeNull()
  }
})
