/** Models from a holdfast.yaml in the folder where a worker is started: offered, run, checked again, and refused with their place. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { postRun, runEnds } from '../support/http.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { until } from '../support/until.ts'

const ECHO = `models:
  - name: echo
    parameters: {type: object, required: [text], properties: {text: {type: string}}}
    command: [${JSON.stringify(process.execPath)}, echo.mjs]
    secrets: {CANARY: secret.txt}
    retry: {max_attempts: 1}
`
const PROGRAM = `
import { readFileSync, writeFileSync } from 'node:fs'
const { text } = JSON.parse(readFileSync(process.env.HOLDFAST_PARAMETERS, 'utf8'))
writeFileSync(process.env.HOLDFAST_RESULT, JSON.stringify({ text, length: process.env.CANARY.length }))
`

let place: Place
let database: TestDatabase
let url: string
beforeAll(async () => {
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url, HOLDFAST_MODELS: '' })
  const write = (name: string, text: string) => writeFile(join(place.folder, name), text)
  await Promise.all([write('holdfast.yaml', ECHO), write('echo.mjs', PROGRAM), write('secret.txt', 'canary-value')])
  url = (await place.startApi()).url
})
afterAll(async () => {
  await place.close()
  await database.drop()
})

it('are offered beside the examples, and show nothing that is private to the worker', async () => {
  const worker = await place.startWorker()
  const { run } = await postRun(url, 'echo', { text: 'hello' })
  expect(await runEnds(url, run.run_id)).toMatchObject({ status: 'SUCCEEDED', attempts: [{ executor: 'command' }] })
  expect(await (await fetch(`${url}/runs/${run.run_id}/result`)).json()).toEqual({ text: 'hello', length: 12 })

  const models = await (await fetch(`${url}/models`)).text()
  expect(models).toContain('baseline_forecast_v1')
  expect(JSON.parse(models).data.find(({ name }: { name: string }) => name === 'echo')).toMatchObject({
    executor: 'command',
    executors: ['command'],
    offered: true,
  })
  expect(models).not.toMatch(/echo\.mjs|secret\.txt|CANARY|canary/)

  // What was accepted from an older schema is looked at again with the one the worker has.
  await database.query(
    `UPDATE models SET definition = jsonb_set(definition, '{parametersSchema}', '{"type": "object"}') WHERE name = 'echo'`,
  )
  const stale = await until(async () => (await postRun(url, 'echo', { text: 1 })).run.run_id, {
    what: 'the API knows the changed definition',
    timeoutMs: 10_000,
  })
  expect((await runEnds(url, stale)).last_error).toMatchObject({ class: 'ParametersRefused' })
  worker.kill('SIGTERM')
  expect((await worker.exited).code).toBe(0)
})

it('that are not declared correctly keep the worker from starting, with file, line and column', async () => {
  await writeFile(join(place.folder, 'bad.yaml'), 'models:\n  - {name: a, parameters: {type: object}, comand: [x]}\n')
  const worker = place.run(['worker', '--models', 'bad.yaml'])
  expect((await worker.exited).code).toBe(1)
  expect(worker.text()).toContain(`${join(place.folder, 'bad.yaml')}:2:43: /models/0/comand: there is no key`)
})
