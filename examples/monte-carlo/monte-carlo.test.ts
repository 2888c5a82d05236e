/** The example wherever it can run without a cluster: one model, one input, one result. On Ray it runs in test/ray. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readYamlModels } from '../../src/model/yaml-models.ts'
import { canonicalText } from '../../src/run/canonical.ts'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { postRun, runEnds } from '../../test/support/http.ts'
import { openPlace, type Place } from '../../test/support/processes.ts'
import { PYTHON_FOLDER, python } from '../../test/support/python.ts'

const here = (name: string) => join(import.meta.dirname, name)
const PARAMETERS = { spot: 100, strike: 105, paths: 20_000, seed: 7 }

test('the declarations differ only in how the model is run', () => {
  const [asCommand, asRayJob, remote] = ['holdfast.yaml', 'ray.yaml', 'remote.yaml'].map((name) => {
    const { models, problems } = readYamlModels(here(name))
    expect(problems).toEqual([])
    return models[0]!
  })
  const identity = ({ name, version, parametersSchema, volatile, ignoreInHash }: NonNullable<typeof asCommand>) =>
    canonicalText({ name, version, parametersSchema, volatile, ignoreInHash })
  expect(identity(asRayJob!)).toBe(identity(asCommand!))
  expect(identity(remote!)).toBe(identity(asCommand!))
})

describe.skipIf(python.missing)(`the model${python.missing ? `: left out, ${python.missing}` : ''}`, () => {
  let place: Place
  let database: TestDatabase
  let url: string
  beforeAll(async () => {
    database = await createTestDatabase()
    place = await openPlace({ DATABASE_URL: database.url })
    url = (await place.startApi()).url
  })
  afterAll(async () => {
    await place.close()
    await database.drop()
  })

  function direct() {
    const program = 'import json,sys,model; print(json.dumps(model.simulate(json.load(sys.stdin))))'
    const input = JSON.stringify({ rate: 0.03, volatility: 0.2, years: 1, ...PARAMETERS })
    const env = { PATH: process.env.PATH ?? '', PYTHONPATH: import.meta.dirname, PYTHONDONTWRITEBYTECODE: '1' }
    const { metrics: _seconds, ...result } = JSON.parse(
      execFileSync(python.command!, ['-c', program], { input, env, encoding: 'utf8' }),
    )
    return result
  }

  async function runOnce() {
    const { run } = await postRun(url, 'monte_carlo', PARAMETERS)
    const ended = await runEnds(url, run.run_id)
    expect(ended).toMatchObject({ status: 'SUCCEEDED' })
    const answer = (await (await fetch(`${url}/runs/${run.run_id}/result`)).json()) as { metrics: object }
    const { metrics, ...result } = answer
    expect(Object.keys(metrics)).toEqual(['seconds'])
    return { ended, result }
  }

  test('has one result hash as a program and in a remote worker, and its result is that of the function', async () => {
    const commandWorker = await place.startWorker({ HOLDFAST_MODELS: here('holdfast.yaml') })
    const asProgram = await runOnce()
    expect(asProgram.ended.attempts![0]).toMatchObject({ executor: 'command' })
    commandWorker.kill('SIGTERM')
    await commandWorker.exited

    await place.startWorker({ HOLDFAST_MODELS: here('remote.yaml') })
    place.runProgram(python.command!, [here('worker.py')], {
      PYTHONPATH: PYTHON_FOLDER,
      PYTHONDONTWRITEBYTECODE: '1',
      HOLDFAST_URL: url,
    })
    const remote = await runOnce()
    expect(remote.ended.attempts![0]).toMatchObject({ executor: 'remote' })

    expect(remote.ended.payload_hash).toBe(asProgram.ended.payload_hash)
    expect(remote.ended.result_hash).toBe(asProgram.ended.result_hash)
    expect(asProgram.result).toEqual(direct())
    expect(remote.result).toEqual(asProgram.result)
  })

  test('what a worker does not show to the database stays with it', async () => {
    const { definition } = (
      await database.query<{ definition: object }>(`SELECT definition FROM models WHERE name = 'monte_carlo'`)
    )[0]!
    expect(JSON.stringify(definition)).not.toMatch(/model\.py|python3|simulate|monte-carlo/)
  })
})
