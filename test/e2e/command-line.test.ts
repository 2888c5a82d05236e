/** The commands as a person types them: help, versions, refusals with their cure. */

import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readMigrations } from '../../src/store/migration-files.ts'
import { version } from '../../src/version.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place, processesIn } from '../support/processes.ts'
import { until } from '../support/until.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

let place: Place
let empty: TestDatabase
let database: TestDatabase
beforeAll(async () => {
  place = await openPlace()
  empty = await createTestDatabase({ migrated: false })
  database = await createTestDatabase()
})
afterAll(async () => {
  await place.close()
  await Promise.all([empty.drop(), database.drop()])
})

async function holdfast(args: string[], env: Record<string, string> = {}) {
  const process = place.run(args, env)
  const { code } = await process.exited
  return { code, text: process.text(), lines: process.lines }
}

describe('help', () => {
  it('names every command and where the settings are explained', async () => {
    const { code, text } = await holdfast(['--help'])
    expect(code).toBe(0)
    for (const word of ['start', 'api', 'worker', 'migrate', 'token', 'docs/config.md']) expect(text).toContain(word)
  })

  it('of the worker names its options and the settings behind them', async () => {
    const { code, text } = await holdfast(['worker', '--help'])
    expect(code).toBe(0)
    for (const word of ['--queues', 'HOLDFAST_QUEUES', '--concurrency', '--models', 'default,gpu:2']) {
      expect(text).toContain(word)
    }
  })

  it('npx holdfast works in the checkout', async () => {
    const { stdout } = await promisify(execFile)('npx', ['--no-install', 'holdfast', '--version'], { cwd: CHECKOUT })
    expect(stdout.trim()).toBe(version)
  })
})

describe('migrate', () => {
  it('applies what is missing and says so as JSON, and finds nothing to do the second time', async () => {
    const names = (await readMigrations()).map(({ name }) => name)
    const env = { DATABASE_URL: empty.url }
    expect(JSON.parse((await holdfast(['migrate', '--json'], env)).text)).toEqual({ applied: names, already: [] })
    expect(JSON.parse((await holdfast(['migrate', '--json'], env)).text)).toEqual({ applied: [], already: names })
    expect((await holdfast(['migrate'], env)).text).toContain('Nothing to do')
  })
})

describe('a clear refusal', () => {
  it('an unknown setting is refused with the nearest known one', async () => {
    const { code, text } = await holdfast(['worker'], { HOLDFAST_LEASE_SECOND: '3' })
    expect(code).toBe(1)
    expect(text).toContain('HOLDFAST_LEASE_SECOND is not a setting; did you mean HOLDFAST_LEASE_SECONDS?')
  })

  it('an option of the command line is checked like the setting it stands for', async () => {
    const { code, text } = await holdfast(['worker', '--concurrency', 'many'], { DATABASE_URL: database.url })
    expect(code).toBe(1)
    expect(text).toContain('HOLDFAST_CONCURRENCY')
  })

  it('a role without a database says how to get one', async () => {
    const { code, text } = await holdfast(['worker'])
    expect(code).toBe(1)
    expect(text).toMatch(/Set DATABASE_URL, or run "holdfast start"/)
  })

  it('a database nobody answers for is named, without its password', async () => {
    const { code, text } = await holdfast(['api'], { DATABASE_URL: 'postgres://me:s3cr3t@127.0.0.1:1/db' })
    expect(code).toBe(1)
    expect(text).toMatch(/127\.0\.0\.1:1.*\n.*DATABASE_URL/)
    expect(text).not.toContain('s3cr3t')
  })

  it('a database without its tables sends to holdfast migrate', async () => {
    const bare = await createTestDatabase({ migrated: false })
    onTestFinished(() => bare.drop())
    const { code, text } = await holdfast(['worker'], { DATABASE_URL: bare.url })
    expect(code).toBe(1)
    expect(text).toContain('Run "holdfast migrate" first')
  })

  it('a module without models is named', async () => {
    const env = { DATABASE_URL: database.url, HOLDFAST_MODELS: 'no-such-models.ts' }
    const { code, text } = await holdfast(['worker'], env)
    expect(code).toBe(1)
    expect(text).toContain('no-such-models.ts')
  })

  it('any address but loopback is refused', async () => {
    const { code, text } = await holdfast(['api'], { DATABASE_URL: database.url, HOLDFAST_HOST: '0.0.0.0' })
    expect(code).toBe(1)
    expect(text).toContain('0.0.0.0')
  })

  it('a port in use is named with the setting to change, and nothing is left running', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await until(() => taken.listening, { what: 'the port is taken' })
    const port = String((taken.address() as { port: number }).port)
    const { code, text } = await holdfast(['start'], { DATABASE_URL: database.url, HOLDFAST_PORT: port })
    expect(code).toBe(1)
    expect(text).toMatch(new RegExp(`EADDRINUSE.*${port}\\n.*HOLDFAST_PORT`))
    await until(() => processesIn(place.folder).length === 0, { what: 'nothing is left running' })
  })
})
