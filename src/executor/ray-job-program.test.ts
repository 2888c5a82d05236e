/** The program of a Ray job, started by its shell line as Ray does, against a service that the test plays. */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type EngineAttempt, type LeaseService, leaseService } from '../../test/support/lease-service.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { until } from '../../test/support/until.ts'
import { newTicket } from '../run/attempt-token.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { findOutcome } from './outcome-line.ts'
import { submissionOf } from './ray-spec.ts'

const { ticket, hash } = newTicket(Buffer.alloc(32, 7))

const MODULE = `
import os, subprocess, sys, time
class Fatal(Exception): pass
def good(parameters, ctx): return {"sum": sum(parameters["numbers"]), "ticket": os.environ.get("HOLDFAST_TICKET")}
def bad(parameters): raise ValueError("it is bad")
def fatal(parameters): raise Fatal("never")
def nan(parameters): return float("nan")
def leaves(parameters): sys.exit(5)
def steps(parameters, ctx): return [ctx.step(name, lambda: {"new": name}) for name in parameters["names"]]
def reads(parameters, ctx):
    file = ctx.file("document")
    return [file.read().decode(), file.name, os.path.basename(file.path), oct(os.stat(file.path).st_mode)[-3:], len(ctx.files), file.path]
def maps(parameters, ctx): return ctx.map("n", parameters["numbers"], lambda n: n * 2, concurrency=2)
tried = []
def tries(parameters, ctx):
    def flaky():
        tried.append(1)
        if len(tried) < parameters["needed"]: raise OSError("not yet")
        return len(tried)
    return ctx.step("fit", flaky, delay_seconds=0)
def slow(parameters):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(parameters["file"] + ".new", "w") as file: file.write(f"{os.getpid()} {child.pid}")
    os.rename(parameters["file"] + ".new", parameters["file"])
    time.sleep(60)
`

type Started = {
  attempt: EngineAttempt
  service: LeaseService
  text(): string
  exit: Promise<number | null>
  folder: string
}

type Steps = EngineAttempt['steps']

async function start(
  definition: Partial<ModelDefinition>,
  parameters: object = {},
  steps: Steps = [],
  files: EngineAttempt['files'] = [],
): Promise<Started> {
  const service = await leaseService()
  const { path: folder, remove } = await tempFolder()
  onTestFinished(remove)
  await mkdir(join(folder, 'work'))
  await writeFile(join(folder, 'work', 'models.py'), MODULE)
  const attempt = service.attempt({ runId: randomUUID(), parameters: { file: join(folder, 'pids'), ...parameters } })
  attempt.ticketHash = hash.toString('hex')
  attempt.steps.push(...steps)
  attempt.files.push(...files)
  const { entrypoint, runtime_env } = submissionOf(definition as ModelDefinition, attempt.input, {
    serviceUrl: service.url,
    installation: 'here',
    ticket,
    packageName: null,
  })
  const env = {
    PATH: process.env.PATH,
    PYTHONDONTWRITEBYTECODE: '1',
    HOLDFAST_RAY_TELL_SECONDS: '1',
    ...(runtime_env.env_vars as object),
  }
  const child = spawn('/bin/sh', ['-c', entrypoint], { cwd: join(folder, 'work'), env, detached: true })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += piece))
  return { attempt, service, folder, text: () => text, exit: once(child, 'close').then(([code]) => code) }
}

const callable = (name: string) => ({ python: { callable: `models:${name}` } })
const command = (script: string) => ({ command: { argv: ['sh', '-c', script], folder: '/unused' } })

async function pidsOf({ folder }: Started): Promise<number[]> {
  const text = await until(() => readFile(join(folder, 'pids'), 'utf8').catch(() => null), { what: 'it runs' })
  return text.split(' ').map(Number)
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

const FILES = ['/document', '/pages/0'].map((parameter) => ({
  parameter,
  name: '../Notes.TXT',
  bytes: 'the bytes',
  served: 'the bytes',
}))

describe('a callable', () => {
  it('reads its files, which are gone with the job', async () => {
    const { attempt, exit } = await start(callable('reads'), {}, [], FILES)
    expect(await exit).toBe(0)
    const [...seen] = JSON.parse((attempt.said as { resultText: string }).resultText)
    const path = seen.pop()
    expect(seen).toEqual(['the bytes', '../Notes.TXT', 'file-1.txt', '400', 2])
    expect(existsSync(path)).toBe(false)
  })

  it('tries its steps again where they stand, and as often as they may', async () => {
    const { attempt, exit } = await start(callable('tries'), { needed: 3 })
    expect(await exit).toBe(0)
    expect(attempt.said).toMatchObject({ resultText: '3' })
    const failed = await start(callable('tries'), { needed: 9 })
    expect(await failed.exit).toBe(1)
    const message = 'step "fit" failed 4 times; last error: OSError: not yet'
    expect(failed.attempt.said).toMatchObject({ error: { class: 'RetryError', message, retryable: false } })
  })

  it('gets its parameters for the ticket, which it never sees', async () => {
    const { attempt, exit } = await start(callable('good'), { numbers: [1, 2] })
    expect(await exit).toBe(0)
    expect(attempt.said).toEqual({ status: 'succeeded', resultText: '{"sum":3,"ticket":null}' })
  })

  it('commits its steps, and goes on after those that the run has', async () => {
    const done = [{ name: 'load', output: 1 }]
    const { attempt, exit } = await start(callable('steps'), { names: ['load', 'fit', 'fit'] }, done)
    expect(await exit).toBe(0)
    expect(attempt.said).toMatchObject({ resultText: '[1,{"new":"fit"},{"new":"fit"}]' })
    expect(attempt.steps).toEqual([...done, { name: 'fit', output: { new: 'fit' } }])
  })

  it('maps over items, each a step, and goes on after those that the run has', async () => {
    const { attempt, exit } = await start(callable('maps'), { numbers: [1, 2, 3] }, [{ name: 'n[1]', output: 'kept' }])
    expect(await exit).toBe(0)
    expect(attempt.said).toMatchObject({ resultText: '[2,"kept",6]' })
    expect(attempt.steps.map(({ name }) => name).toSorted()).toEqual(['n', 'n[0]', 'n[1]', 'n[2]'])
  })

  it('whose step is refused fails for good', async () => {
    const { attempt, exit } = await start(callable('steps'), { names: ['refused'] })
    expect(await exit).toBe(1)
    expect(attempt.said).toMatchObject({ status: 'failed', error: { class: 'Refused', retryable: false } })
  })

  it.each([
    ['bad', { class: 'ValueError', message: 'it is bad', stack: expect.stringContaining('in bad') }],
    ['fatal', { class: 'Fatal', retryable: false }],
    ['nan', { class: 'ResultNotJson', retryable: false }],
    ['leaves', { class: 'SystemExit' }],
    ['missing', { class: 'AttributeError' }],
  ])('that is %s fails clearly', async (name, error) => {
    const { attempt, exit } = await start(callable(name))
    expect(await exit).toBe(1)
    expect(attempt.said).toMatchObject({ status: 'failed', error })
  })
})

describe('a command', () => {
  it('finds its files where HOLDFAST_FILES says', async () => {
    const script =
      'import json,os;l=json.load(open(os.environ["HOLDFAST_FILES"]));print(json.dumps([[f["parameter"],f["size"],open(f["path"]).read()] for f in l]))'
    const program = { command: { argv: ['python3', '-c', script], folder: '/unused' } }
    const { attempt, exit } = await start(program, {}, [], FILES)
    expect(await exit).toBe(0)
    const shown = [9, 'the bytes']
    const expected = JSON.stringify([
      ['/document', ...shown],
      ['/pages/0', ...shown],
    ])
    expect(attempt.said).toMatchObject({ status: 'succeeded', resultText: expected })
  })

  it('has its parameters on standard input and answers by its last line', async () => {
    const { attempt, text, exit } = await start(command('echo noise; cat; echo; echo'), { a: 1 })
    expect(await exit).toBe(0)
    expect(attempt.said).toMatchObject({ status: 'succeeded', resultText: expect.stringContaining('"a":1') })
    expect(text()).toContain('noise\n')
  })

  it('answers by its file, which wins', async () => {
    const script =
      'echo "{\\"from\\": \\"file\\"}" > "$HOLDFAST_RESULT"; echo "{}"; echo "{\\"half\\": 1}" >> "$HOLDFAST_PROGRESS"'
    const { attempt, exit } = await start(command(script))
    await exit
    expect(attempt.said).toEqual({ status: 'succeeded', resultText: '{"from":"file"}' })
  })

  it.each([
    ['echo 1 > "$HOLDFAST_COST"; echo 2.5 >> "$HOLDFAST_COST"; echo "{}"', { status: 'succeeded', cost: 2.5 }],
    ['echo 3 > "$HOLDFAST_COST"; exit 4', { status: 'failed', cost: 3 }],
    ['echo much > "$HOLDFAST_COST"; echo "{}"', { status: 'succeeded', resultText: '{}' }],
  ])('says what it cost by its file: %s', async (script, said) => {
    const { attempt, exit } = await start(command(script))
    await exit
    expect(attempt.said).toMatchObject(said)
    expect('cost' in said).toBe('cost' in attempt.said!)
  })

  it('describes its error in a file', async () => {
    const script = 'echo "{\\"class\\": \\"NoData\\", \\"message\\": \\"none\\"}" > "$HOLDFAST_ERROR"; exit 4'
    const { attempt } = await start(command(script)).then(async (parts) => {
      await parts.exit
      return parts
    })
    expect(attempt.said).toMatchObject({ status: 'failed', error: { class: 'NoData', message: 'none', exitCode: 4 } })
  })

  it.each([
    ['exit 64', { class: 'CommandFailed', retryable: false, exitCode: 64 }],
    ['kill -9 $$', { class: 'CommandFailed', exitCode: 137 }],
    ['true', { class: 'NoResult' }],
    ['echo no json', { class: 'NoResult' }],
    ['echo "{no json"', { class: 'ResultNotJson', retryable: false }],
    ['printf "{\\377\\000"', { class: 'ResultNotJson' }],
    ['echo "{\\"a\\": 1, \\"a\\": 2}"', { class: 'ResultNotJson' }],
    ['echo why >&2; exit 9', { message: 'the program ended with exit code 9: why', stack: 'why\n' }],
  ])('that does `%s` fails clearly', async (script, error) => {
    const { attempt, exit } = await start(command(script))
    await exit
    expect(attempt.said).toMatchObject({ status: 'failed', error })
  })

  it('works in a folder of its own, with links to its files', async () => {
    const { attempt, folder, exit } = await start(command('head -c 0 models.py && touch new && echo "\\"$PWD\\""'))
    await exit
    expect(attempt.said).toMatchObject({ status: 'succeeded' })
    expect(existsSync(join(folder, 'work', 'new'))).toBe(false)
  })

  it('shows neither its secrets nor more than so much', async () => {
    const { path: folder, remove } = await tempFolder()
    onTestFinished(remove)
    await writeFile(join(folder, 'secret'), 'sesame\n')
    const script = 'echo "open $KEY"; yes | head -c 20000000; echo "\\"$KEY\\""'
    const { attempt, text, exit } = await start({
      command: { argv: ['sh', '-c', script], secrets: { KEY: join(folder, 'secret') } },
    })
    await exit
    expect(text()).toContain('open [redacted]\n')
    expect(text().length).toBeLessThan(10_000_000)
    expect(text()).toContain('[further output is left out: it is too long]')
    expect(attempt.said).toEqual({ status: 'succeeded', resultText: '"sesame"' })
  })

  it('leaves no process behind', async () => {
    const started = await start(command('sleep 60 & echo "$$ $!" > "$(dirname $(readlink models.py))/pids"; exit 3'))
    await started.exit
    expect(started.attempt.said).toMatchObject({ status: 'failed', error: { exitCode: 3 } })
    const pids = (await readFile(join(started.folder, 'work', 'pids'), 'utf8')).trim().split(' ').map(Number)
    await until(() => pids.every(isGone), { what: 'nothing is left' })
  })
})

describe('the job', () => {
  it('runs nothing with a ticket that was used', async () => {
    const started = await start(callable('good'), { numbers: [1] })
    started.attempt.isOver = true
    expect(await started.exit).toBe(3)
    expect(started.attempt.said).toBeNull()
  })

  it.each([
    ['it is cancelled', (attempt: EngineAttempt) => (attempt.cancelRequested = true)],
    ['its attempt is over', (attempt: EngineAttempt) => (attempt.isOver = true)],
  ])('ends everything it started when %s', { timeout: 30_000 }, async (_, happen) => {
    const started = await start(callable('slow'))
    const pids = await pidsOf(started)
    happen(started.attempt)
    await started.exit
    await until(() => pids.every(isGone), { what: 'its processes are gone' })
    expect(started.attempt.said).toBeNull()
  })

  it('prints what it cannot say', async () => {
    const started = await start({
      command: {
        argv: ['sh', '-c', 'until [ -e "$(dirname $(readlink models.py))/go" ]; do sleep 0.05; done; echo 5'],
        folder: '/unused',
      },
    })
    await until(() => started.attempt.starts, { what: 'it has its parameters' })
    started.service.isReachable = false
    await writeFile(join(started.folder, 'work', 'go'), '')
    expect(await started.exit).toBe(0)
    expect(findOutcome(started.text(), ticket)).toEqual({ status: 'succeeded', resultText: '5' })
  })
})
