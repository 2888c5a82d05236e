/** A remote worker with nothing but `fetch`, whose model does nothing: `node-worker.ts <url> <slots>`. It never renews a lease. */

const [url = '', slots = '1'] = process.argv.slice(2)
const offer = { worker: 'bench-node', models: ['noop_node'] }
const parameters = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }

type Lease = { run_id: string; token: string }

async function send(method: string, path: string, body: unknown, token?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(token && { 'holdfast-attempt-token': token }) }
  return fetch(url + path, { method, headers, body: JSON.stringify(body) })
}

async function complete({ run_id: runId, token }: Lease): Promise<void> {
  await (await send('POST', `/leases/${runId}/complete`, { result: null }, token)).text()
}

await (await send('PUT', '/models/noop_node/1', { parameters_schema: parameters })).text()
let free = Number(slots)
let freed = Promise.withResolvers<void>()
for (;;) {
  while (free === 0) {
    await freed.promise
    freed = Promise.withResolvers()
  }
  const answer = await send('POST', '/leases', { ...offer, slots: free })
  const text = await answer.text()
  for (const lease of answer.status === 200 ? (JSON.parse(text) as { data: Lease[] }).data : []) {
    free -= 1
    void complete(lease).finally(() => {
      free += 1
      freed.resolve()
    })
  }
}
