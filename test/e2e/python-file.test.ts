/** The programs in docs/python.md, as they stand there; and the tests that the Python file has of its own. */

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openPlace } from '../support/processes.ts'
import { PYTHON_FOLDER, python } from '../support/python.ts'

const PAGE = readFileSync(new URL('../../docs/python.md', import.meta.url), 'utf8')

/** Each program names its file in its first line. */
const programs = [...PAGE.matchAll(/```python\n# (\S+)\n(.*?)```/gs)].map(([, name = '', text = '']) => ({
  name,
  text,
}))

describe.skipIf(python.missing)(`Python${python.missing ? `: left out, ${python.missing}` : ''}`, () => {
  it('the worker and the client of the documentation do what it says', { timeout: 60_000 }, async () => {
    const database = await createTestDatabase()
    onTestFinished(() => database.drop())
    const place = await openPlace({ DATABASE_URL: database.url })
    onTestFinished(() => place.close())
    const { url } = await place.startApi()
    for (const { name, text } of programs) await writeFile(join(place.folder, name), text)
    const env = { PYTHONPATH: PYTHON_FOLDER, PYTHONDONTWRITEBYTECODE: '1', HOLDFAST_URL: url }
    const worker = place.runProgram(python.command!, ['-m', 'holdfast', 'worker', 'models:worker'], env)
    await expect.poll(worker.text, { timeout: 20_000 }).toContain('started')
    const client = place.runProgram(python.command!, ['submit.py'], env)
    expect((await client.exited).code, client.text()).toBe(0)
    expect(client.text()).toBe('3\nSUCCEEDED False')
    worker.kill('SIGTERM')
    expect((await worker.exited).code).toBe(0)
  })

  it('its own tests pass', { timeout: 120_000 }, async () => {
    const place = await openPlace()
    onTestFinished(() => place.close())
    const tests = place.runProgram(python.command!, ['-B', '-m', 'unittest', 'discover', '-s', PYTHON_FOLDER])
    expect((await tests.exited).code, tests.text()).toBe(0)
  })
})
