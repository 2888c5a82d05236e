/** The worker of python/holdfast.py, held to the worker cases of the remote worker protocol. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'vitest'
import { PYTHON_FOLDER, python } from '../support/python.ts'
import { startScripted, type WorkerCase } from './leases/scripted-server.ts'

const FOLDER = join(import.meta.dirname, 'leases')
const cases = readdirSync(FOLDER)
  .filter((name) => name.startsWith('worker-') && name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as WorkerCase)

describe.skipIf(python.missing)(`a Python worker${python.missing ? `: left out, ${python.missing}` : ''}`, () => {
  test.concurrent.each(cases.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    const scripted = await startScripted(one)
    const harness = spawn(python.command!, ['-B', join(PYTHON_FOLDER, 'conformance.py'), scripted.url], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = Promise.all([text(harness.stdout), text(harness.stderr)])
    const [code] = await once(harness, 'close')
    const [failures, log] = await said
    await scripted.close()
    if (failures !== '' || code !== 0) throw new Error(`${failures}\n${log}`)
  })
})
