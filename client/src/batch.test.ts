import { expect, test } from 'vitest'
import { allOf } from '../../test/support/all-of.ts'
import { type Act, answers, loses, refuses, scriptedServer } from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { wireRun } from '../../test/support/wire-run.ts'
import { Holdfast, type Run } from './index.ts'

const items = (count: number, parameters: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ model: 'forecast', parameters: { ...parameters, n } }))

/** Accepts all, each as a run named after its key, but for those it refuses. */
const takes =
  (refusal: (n: number) => object | null = () => null): Act =>
  (seen, response) => {
    const { runs } = seen.json() as { runs: { idempotency_key: string; parameters: { n: number } }[] }
    const data = runs.map(({ idempotency_key, parameters: { n } }) => {
      const problem = refusal(n)
      if (problem) return { status: (problem as { status: number }).status, run: null, problem }
      return { status: 201, run: { ...wireRun({ title: idempotency_key }), idempotent_hit: false }, problem: null }
    })
    answers(200, { data })(seen, response)
  }

const sizes = (seen: { json(): { runs: unknown[] } }[]) => seen.map((request) => request.json().runs.length)

test('a batch goes out in requests of 1,000, and its outcomes keep the order', async () => {
  const server = await scriptedServer()
  server.otherwise(takes())
  const outcomes = await new Holdfast({ url: server.url }).batch(items(2_500))
  expect(sizes(server.seen)).toEqual([1_000, 1_000, 500])
  expect(outcomes.every((outcome) => outcome.ok && outcome.submitted.run.title === outcome.key)).toBe(true)
  expect(new Set(outcomes.map(({ key }) => key)).size).toBe(2_500)
})

test('requests stay under 16 MiB', async () => {
  const server = await scriptedServer()
  server.otherwise(takes())
  await new Holdfast({ url: server.url }).batch(items(5, { text: 'ä'.repeat(2 * 1024 * 1024) }))
  expect(sizes(server.seen)).toEqual([3, 2])
})

test('a refused item is an outcome, and those refused for the moment are sent again with their keys', async () => {
  const busy = { code: 'busy', status: 503, detail: 'busy' }
  const invalid = { code: 'invalid-parameters', status: 422, detail: 'no' }
  const server = await scriptedServer(
    takes((n) => (n === 1 ? invalid : n === 2 ? busy : null)),
    takes(),
  )
  const clock = stepClock()
  const outcomes = await new Holdfast({ url: server.url, clock }).batch(items(4))
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true, true])
  expect(outcomes[1]).toMatchObject({ error: { code: 'invalid-parameters', status: 422 } })
  expect(server.seen[1]!.json().runs).toEqual([server.seen[0]!.json().runs[2]])
  expect(clock.slept).toEqual([1000])
})

test('a request that is lost is sent again to the byte; when it stays lost, the items say so and the rest is not tried', async () => {
  const server = await scriptedServer(loses(), takes())
  server.otherwise(loses())
  const clock = stepClock()
  const outcomes = await new Holdfast({ url: server.url, clock }).batch(items(3_000))
  expect(server.seen).toHaveLength(2 + 4)
  expect(server.seen[1]!.text).toBe(server.seen[0]!.text)
  expect(outcomes.map(({ ok }) => ok)).toEqual([...Array(1_000).fill(true), ...Array(2_000).fill(false)])
  expect(outcomes[2_999]).toMatchObject({ error: { name: 'MaxRetriesExceeded' }, key: expect.any(String) })
})

test('a refusal of the whole request is the outcome of each of its items', async () => {
  const server = await scriptedServer(refuses(403, 'forbidden'))
  const outcomes = await new Holdfast({ url: server.url }).batch(items(2))
  expect(outcomes).toMatchObject([{ error: { code: 'forbidden' } }, { error: { code: 'forbidden' } }])
})

test('a list goes on through short and empty pages until there is no cursor', async () => {
  const page = (ids: string[], next_cursor: string | null) =>
    answers(200, { data: ids.map((run_id) => wireRun({ run_id })), next_cursor })
  const server = await scriptedServer(page(['a'], 'c1'), page([], 'c2'), page(['b'], null))
  const filter = { status: ['FAILED', 'CANCELLED'], tag: 'a,b', text: 'x,y' } as const
  const runs: Run[] = await allOf(new Holdfast({ url: `${server.url}/` }).list(filter))
  expect(runs.map(({ run_id }) => run_id)).toEqual(['a', 'b'])
  const asked = server.seen.map(({ path }) => new URL(path, 'http://x').searchParams)
  expect(asked.map((query) => query.get('cursor'))).toEqual([null, 'c1', 'c2'])
  expect(asked[2]!.getAll('status')).toEqual(['FAILED', 'CANCELLED'])
  expect([asked[2]!.get('tag'), asked[2]!.get('text'), asked[2]!.get('limit')]).toEqual(['a\\,b', 'x,y', '200'])
})
