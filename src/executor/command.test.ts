import { createHash } from 'node:crypto'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createMemoryBlobStore } from '../blob/memory.ts'
import { CommandExecutor } from './command.ts'
import type { Outcome } from './executor.ts'
import { attemptOf, outcomeOf, resultOf, start } from './fixtures/attempts.ts'
import { CommandNotes, commandsWith, pathFor, stopCommands, workFolder } from './fixtures/commands.ts'

afterAll(stopCommands)

const shared = commandsWith()

type Echo = {
  argv: string[]
  cwd: string
  env: Record<string, string>
  input: string
  parameters: unknown
  files: string[]
}

function errorOf(outcome: Outcome) {
  if (outcome.status !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`)
  return outcome.error
}

async function failureOf(model: string, parameters: unknown = {}, notes = new CommandNotes()) {
  return errorOf(await outcomeOf(shared, attemptOf(model, parameters), notes))
}

describe('what a program is given', () => {
  test('parameters on standard input and in a file, and who it is', async () => {
    const attempt = attemptOf('echo', { b: 2, a: 'ü' }, { runId: 'run-9', attempt: 3, seed: 42, modelVersion: '1.2' })
    const seen = (await resultOf(shared, attempt)) as Echo
    expect(seen.parameters).toEqual({ a: 'ü', b: 2 })
    expect(seen.input).toBe('{"a":"ü","b":2}\n')
    expect(seen.env).toMatchObject({
      HOLDFAST_RUN_ID: 'run-9',
      HOLDFAST_ATTEMPT: '3',
      HOLDFAST_SEED: '42',
      HOLDFAST_MODEL: 'echo',
      HOLDFAST_MODEL_VERSION: '1.2',
    })
  })

  test('a folder of its own that shows the files of the model and is removed afterwards', async () => {
    const seen = (await resultOf(shared, attemptOf('echo'))) as Echo
    expect(seen.cwd.startsWith(workFolder)).toBe(true)
    expect(seen.files).toEqual(['model.mjs'])
    expect(dirname(seen.env.TMPDIR!)).toBe(dirname(seen.cwd))
    await expect(stat(dirname(seen.cwd))).rejects.toThrow('ENOENT')
  })

  test('input files as links, named in a list, and no word of them where there are none', async () => {
    const path = pathFor('file-1.txt')
    await writeFile(path, 'bytes', { mode: 0o400 })
    const input = { fileId: 'a'.repeat(64), name: '../x y.txt', bytes: 5, type: 'text/plain', path }
    const files = [
      { parameter: '/document', ...input },
      { parameter: '/pages/0', ...input },
    ]
    const program =
      'const l=JSON.parse(fs.readFileSync(process.env.HOLDFAST_FILES));l.forEach(f=>f.text=""+fs.readFileSync(f.path));'
    const argv = [process.execPath, '-e', `const fs=require("fs");${program}console.log(JSON.stringify(l))`]
    const listed = (await resultOf(commandsWith({ spec: { argv } }), attemptOf('x', {}, { files }))) as {
      path: string
    }[]
    const shown = { file_id: 'a'.repeat(64), name: '../x y.txt', size: 5, type: 'text/plain', text: 'bytes' }
    expect(listed).toEqual([
      { ...shown, parameter: '/document', path: listed[0]!.path },
      { ...shown, parameter: '/pages/0', path: listed[0]!.path },
    ])
    expect(listed[0]!.path.startsWith(workFolder)).toBe(true)
    expect((await stat(path)).size).toBe(5)
    expect(((await resultOf(shared, attemptOf('echo'))) as Echo).env).not.toHaveProperty('HOLDFAST_FILES')
  })

  test('only its user can look into the folder', async () => {
    const executor = commandsWith({ spec: { argv: ['stat', '-c', '{"mode":%a}', '..', '.'] } })
    expect(await resultOf(executor, attemptOf('x'))).toEqual({ mode: 700 })
  })

  test('a folder the program locked is removed too', async () => {
    const before = (await readdir(workFolder)).length
    expect(await resultOf(shared, attemptOf('locks'))).toBe('ok')
    expect((await readdir(workFolder)).length).toBe(before)
  })

  test('arguments as they are, for no shell sees them', async () => {
    const argv = [process.execPath, 'model.mjs', 'echo', '$HOME; `id` "*"', '']
    const seen = (await resultOf(commandsWith({ spec: { argv } }), attemptOf('x'))) as Echo
    expect(seen.argv).toEqual(argv.slice(2))
  })

  test('no standard input when the model wants none', async () => {
    expect(await resultOf(commandsWith({ spec: { stdin: false } }), attemptOf('echo'))).toMatchObject({ input: '' })
  })

  test('the allowed part of the environment, what the model names and sets, and none of our secrets', async () => {
    const canaries = {
      DATABASE_URL: 'postgres://canary',
      REDIS_URL: 'redis://canary',
      HOLDFAST_TOKEN: 'canary',
      AWS_SECRET_ACCESS_KEY: 'canary',
      AWS_ACCESS_KEY_ID: 'canary',
      SMTP_URL: 'smtp://canary',
      HOLDFAST_PUBLIC_URL: 'http://canary',
      NODE_OPTIONS: '--canary',
    }
    const executor = commandsWith({
      env: { ...canaries, PATH: process.env.PATH, LC_ALL: 'C', GPU: '1', EXTRA: 'x' },
      envNames: ['GPU'],
      spec: { envNames: ['EXTRA'], env: { MODE: 'fast', HOLDFAST_RUN_ID: 'of another' } },
    })
    const { env } = (await resultOf(executor, attemptOf('echo'))) as Echo
    expect(JSON.stringify(env)).not.toContain('canary')
    const ours = Object.keys(env).filter((name) => !name.startsWith('HOLDFAST_'))
    expect(ours.toSorted()).toEqual(['EXTRA', 'GPU', 'LC_ALL', 'MODE', 'PATH', 'TMPDIR'])
    expect(env.HOLDFAST_RUN_ID).toBe('run-1')
  })

  test.each(['DATABASE_URL', 'HOLDFAST_TOKEN'])('not even a model that asks for it gets our %s', async (name) => {
    const executor = commandsWith({ env: { [name]: 'canary' }, spec: { envNames: [name] } })
    const error = errorOf(await outcomeOf(executor, attemptOf('echo')))
    expect(error).toMatchObject({ class: 'CommandNotStarted', message: expect.stringContaining(name) })
    expect(error.message).not.toContain('canary')
  })
})

describe('secrets', () => {
  const secret = 'hunter2-hunter2'

  test('are read from their files at the start of the attempt', async () => {
    const file = pathFor('secret-read')
    await writeFile(file, `${secret}\n`)
    const executor = commandsWith({ spec: { secrets: { API_KEY: file } } })
    expect(await resultOf(executor, attemptOf('echo'))).toMatchObject({ env: { API_KEY: secret } })
    await writeFile(file, 'changed')
    expect(await resultOf(executor, attemptOf('echo'))).toMatchObject({ env: { API_KEY: 'changed' } })
  })

  test('are hidden in output, progress and errors', async () => {
    const file = pathFor('secret-hidden')
    await writeFile(file, `${secret}\n`)
    const executor = commandsWith({ spec: { secrets: { API_KEY: file } } })
    const notes = new CommandNotes()
    const outcome = await outcomeOf(executor, attemptOf('says-secret', { name: 'API_KEY' }), notes)
    const seen = JSON.stringify([outcome, notes.printed, notes.lines, notes.progressValues])
    expect(seen).not.toContain(secret)
    expect(notes.printed).toEqual({ stdout: '[redacted]', stderr: 'denied for [redacted]\n' })
  })

  test('that cannot be read fail the attempt without naming the file', async () => {
    const executor = commandsWith({ spec: { secrets: { API_KEY: '/nowhere/at-all' } } })
    const error = errorOf(await outcomeOf(executor, attemptOf('echo')))
    expect(error).toMatchObject({ class: 'SecretUnreadable', message: expect.stringContaining('API_KEY') })
    expect(JSON.stringify(error)).not.toContain('nowhere')
  })
})

describe('the result', () => {
  test('is the last line that is not blank when no file was written', async () => {
    const text = 'starting\n{"early":1}\n{ "b":1.0, "a":[] }  \n\n'
    const outcome = await outcomeOf(shared, attemptOf('prints', { text }))
    expect(outcome).toEqual({ status: 'succeeded', resultText: '{"a":[],"b":1}' })
  })

  test('in a file wins over the output', async () => {
    const executor = commandsWith({ spec: { argv: ['sh', '-c', 'echo 1; echo 2 > $HOLDFAST_RESULT'] } })
    expect(await resultOf(executor, attemptOf('x'))).toBe(2)
  })

  test('is not taken from the output when the model promises a file', async () => {
    const executor = commandsWith({ spec: { result: 'file' } })
    const error = errorOf(await outcomeOf(executor, attemptOf('prints', { text: '1\n' })))
    expect(error).toMatchObject({ class: 'NoResult', message: expect.stringContaining('HOLDFAST_RESULT') })
  })

  test('that is chatter is none', async () => {
    expect(await failureOf('prints', { text: 'all done!\n' })).toMatchObject({ class: 'NoResult', exitCode: 0 })
  })

  test.each([
    ['{"a":1,"a":2}', 'given twice'],
    ['{"a":', 'JSON'],
    ['', 'empty'],
  ])('%j in the file is refused with the reason', async (text, why) => {
    const error = await failureOf('writes', { text })
    expect(error).toMatchObject({ class: 'ResultNotJson', retryable: false, message: expect.stringContaining(why) })
  })

  test('that breaks off on the last line is refused with the reason', async () => {
    expect(await failureOf('prints', { text: '{"a":\n' })).toMatchObject({ class: 'ResultNotJson' })
  })

  test('is not read through a link', async () => {
    const error = await failureOf('links-result', { secret: 1 })
    expect(error).toMatchObject({ class: 'ResultNotJson', message: expect.stringContaining('link') })
  })
})

describe('a program that fails', () => {
  test('is described by its exit code and the end of its standard error', async () => {
    const error = await failureOf('exits', { code: 3, stderr: 'Traceback:\n  line 1\nValueError: bad\n' })
    expect(error.message).toBe('the program ended with exit code 3: ValueError: bad')
    expect(error).toMatchObject({ class: 'CommandFailed', exitCode: 3, stack: expect.stringContaining('line 1') })
    expect(error.retryable).toBeUndefined()
  })

  test.each([64, 65, 78])('with exit code %i is not retried', async (code) => {
    expect(await failureOf('exits', { code })).toMatchObject({ exitCode: code, retryable: false })
  })

  test('is retried or not as the model says of its exit codes', async () => {
    const executor = commandsWith({ spec: { fatalExitCodes: [2] } })
    expect(errorOf(await outcomeOf(executor, attemptOf('exits', { code: 2 }))).retryable).toBe(false)
    expect(errorOf(await outcomeOf(executor, attemptOf('exits', { code: 64 }))).retryable).toBeUndefined()
  })

  test('may describe itself in a file', async () => {
    const said = { class: 'BadInput', message: 'no such region', retryable: false, stack: 'here', other: 1 }
    expect(await failureOf('exits', { code: 1, error: JSON.stringify(said) })).toEqual({
      class: 'BadInput',
      message: 'no such region',
      stack: 'here',
      retryable: false,
      exitCode: 1,
    })
  })

  test('is described by its exit code when its own description cannot be read', async () => {
    const notes = new CommandNotes()
    expect(await failureOf('exits', { code: 1, error: 'not json' }, notes)).toMatchObject({ class: 'CommandFailed' })
    expect(notes.messages).toEqual([expect.stringContaining('HOLDFAST_ERROR was not used')])
  })

  test('by a signal is described by the signal', async () => {
    const error = await failureOf('crashes')
    expect(error).toMatchObject({ class: 'CommandFailed', exitCode: 139, message: expect.stringContaining('SIGSEGV') })
  })

  test('to exist is a clear error', async () => {
    const executor = commandsWith({ spec: { argv: ['no-such-program-anywhere'] } })
    const error = errorOf(await outcomeOf(executor, attemptOf('x')))
    expect(error).toMatchObject({ class: 'CommandNotStarted', message: expect.stringContaining('no such program') })
  })

  test('to be known to this worker is not started', async () => {
    const executor = new CommandExecutor({ specOf: () => undefined, workFolder })
    await expect(outcomeOf(executor, attemptOf('unknown'))).rejects.toThrow('unknown@1')
  })
})

describe('reports', () => {
  test('progress is the newest line, also one without an end', async () => {
    const notes = new CommandNotes()
    await resultOf(shared, attemptOf('progresses'), notes)
    expect(notes.progressValues.at(-1)).toEqual({ done: 2 })
  })

  test('progress that is no JSON is complained about once', async () => {
    const notes = new CommandNotes()
    await resultOf(shared, attemptOf('bad-progress'), notes)
    expect(notes.messages).toEqual([expect.stringContaining('progress left out')])
  })

  test.each([0, 3])('its cost is told, whatever its exit code: %i', async (code) => {
    const notes = new CommandNotes()
    await outcomeOf(shared, attemptOf('costs', { text: '1\n2.25\n', code }), notes)
    expect(notes.costs).toEqual([2.25])
  })

  test('what it used is measured', async () => {
    const notes = new CommandNotes()
    await resultOf(shared, attemptOf('computes', { ms: 600 }), notes)
    expect(notes.used?.cpuSeconds).toBeGreaterThan(0.1)
    expect(notes.used?.peakMemoryBytes).toBeGreaterThan(100e6)
  })

  test('output arrives while the program runs', async () => {
    const notes = new CommandNotes()
    const argv = ['sh', '-c', 'echo out; echo err >&2; echo "{}" > $HOLDFAST_PROGRESS; sleep 600']
    const executor = commandsWith({ spec: { argv } })
    const handle = await executor.submit(attemptOf('x'), notes)
    await notes.firstProgress
    expect(notes.printed).toEqual({ stdout: 'out\n', stderr: 'err\n' })
    await executor.cancel(handle, 'cancelled', 0)
  })
})

describe('output files', () => {
  const blob = createMemoryBlobStore()
  const keeping = commandsWith({ keepArtifact: blob.put, outputFilesMax: 5, outputFilesBytesMax: 1_000 })

  test('regular ones are kept under harmless names, links of any kind are left out', async () => {
    const notes = new CommandNotes()
    await resultOf(keeping, attemptOf('outputs'), notes)
    const { artifacts } = notes
    expect(artifacts.map(({ name, ref, bytes }) => [name, ref, bytes])).toEqual([
      ['empty', 'artifacts/run-1.a1.files.empty', 0],
      ['plots/über all.png', 'artifacts/run-1.a1.files.plots_ber_all.png', 3],
      ['table.csv', 'artifacts/run-1.a1.files.table.csv', 8],
    ])
    expect(Buffer.from(await blob.get(artifacts[2]!.ref)).toString()).toBe('a,b\n1,2\n')
    expect(artifacts[2]!.sha256).toBe(createHash('sha256').update('a,b\n1,2\n').digest('hex'))
    const leftOut = notes.messages.filter((message) => message.includes('left out')).join('\n')
    for (const name of ['"stolen"', '"stolen-folder"', '"hard"']) expect(leftOut).toContain(name)
  })

  test('those kept before one that could not be are told of', async () => {
    const notes = new CommandNotes()
    const keepArtifact: typeof blob.put = async (name, bytes) => {
      if (name.endsWith('table.csv')) throw new Error('away')
      return blob.put(name, bytes)
    }
    const outcome = await outcomeOf(commandsWith({ keepArtifact }), attemptOf('outputs'), notes)
    expect(errorOf(outcome)).toMatchObject({ class: 'ArtifactStoreFailed' })
    expect(notes.artifacts.map(({ name }) => name)).toEqual(['empty', 'plots/über all.png'])
  })

  test('a path too long for the record fails the attempt', async () => {
    const parts = Array.from({ length: 6 }, () => 'x'.repeat(200)).join('/')
    const argv = ['sh', '-c', `mkdir -p $HOLDFAST_OUTPUT_DIR/${parts}; echo > $HOLDFAST_OUTPUT_DIR/${parts}/a; echo 1`]
    const error = errorOf(await outcomeOf(commandsWith({ keepArtifact: blob.put, spec: { argv } }), attemptOf('x')))
    expect(error).toMatchObject({ class: 'OutputsRefused', message: expect.stringContaining('1000 bytes') })
  })

  test('only those the model asks for are kept', async () => {
    const executor = commandsWith({ keepArtifact: blob.put, spec: { outputs: ['**/*.png'] } })
    const notes = new CommandNotes()
    await resultOf(executor, attemptOf('outputs'), notes)
    expect(notes.messages).toEqual([expect.stringContaining('über all.png')])
  })

  test.each([
    { count: 6, bytes: 1, why: 'more than 5 output files' },
    { count: 2, bytes: 600, why: 'more than 1000 bytes' },
  ])('$why fail the attempt', async ({ count, bytes, why }) => {
    const error = errorOf(await outcomeOf(keeping, attemptOf('many-outputs', { count, bytes })))
    expect(error).toMatchObject({ class: 'OutputsRefused', retryable: false, message: expect.stringContaining(why) })
  })
})

describe('stopping', () => {
  test('a cancelled program gets SIGTERM, and its last line is no result then', async () => {
    const { handle, notes } = await start(shared, attemptOf('stops-well'))
    await notes.firstProgress
    await shared.cancel(handle, 'cancelled', 10_000)
    expect(await shared.watch(handle)).toEqual({ status: 'cancelled' })
  })

  test('a result file written on the signal stands', async () => {
    const { handle, notes } = await start(shared, attemptOf('stops-well', { file: true }))
    await notes.firstProgress
    await shared.cancel(handle, 'cancelled', 10_000)
    expect(await shared.watch(handle)).toEqual({ status: 'succeeded', resultText: '"in time"' })
  })

  test('an attempt that is cancelled at once never ends otherwise', async () => {
    const handle = await shared.submit(attemptOf('waits'), new CommandNotes())
    await shared.cancel(handle, 'cancelled', 10_000)
    expect(await shared.watch(handle)).toEqual({ status: 'cancelled' })
  })

  test('a program that takes too long is a timeout', async () => {
    const outcome = await outcomeOf(shared, attemptOf('waits', {}, { timeoutMs: 300 }))
    expect(errorOf(outcome)).toMatchObject({ class: 'Timeout', message: expect.stringContaining('0.3 s') })
  })

  test('stop kills what runs and leaves no folder', async () => {
    const own = pathFor('stopped')
    await mkdir(own)
    const executor = commandsWith({ workFolder: own })
    const { handle, notes } = await start(executor, attemptOf('waits'))
    await notes.firstProgress
    await executor.stop()
    expect(await executor.watch(handle)).toEqual({ status: 'cancelled' })
    expect(await readdir(own)).toEqual([])
    await expect(executor.submit(attemptOf('waits'), notes)).rejects.toThrow('stopped')
  })

  test('what a worker that is gone left behind is removed by the next', async () => {
    const own = pathFor('abandoned')
    const first = commandsWith({ workFolder: own })
    const { cwd } = (await resultOf(first, attemptOf('echo'))) as Echo
    const [host] = (cwd.slice(own.length + 1).split('/')[0] as string).split('.')
    // No process has this id: it is above what Linux gives out.
    const abandoned = join(own, `${host}.4194305.x`)
    await mkdir(join(abandoned, 'run-1.a1.x'), { recursive: true })
    const next = commandsWith({ workFolder: own })
    await resultOf(next, attemptOf('echo'))
    await next.stop()
    await expect(stat(abandoned)).rejects.toThrow('ENOENT')
  })
})
