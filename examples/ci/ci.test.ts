/** The CI examples, run as CI would: the script by Bash, and the steps of the workflow as the scripts they are. */

import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { createTestApi, MODEL } from '../../test/support/api.ts'
import {
  answers,
  loses,
  refuses,
  type ScriptedServer,
  saysNothing,
  scriptedServer,
} from '../../test/support/scripted-http.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { wireRun } from '../../test/support/wire-run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SCRIPT = join(ROOT, 'examples/ci/submit.sh')
const WORKFLOW = join(ROOT, 'examples/ci/github-actions.yml')
const RUN_ID = wireRun().run_id
const HASH = /^[0-9a-f-]{36}$/

type Ended = { code: number; stdout: string; stderr: string }

/** Sleeps are written down instead of slept. */
async function shell(
  args: string[],
  env: Record<string, string>,
): Promise<Ended & { slept: string[]; folder: string }> {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const sleeper = join(folder.path, 'sleeper')
  await writeFile(sleeper, `#!/bin/sh\necho "$1" >> '${folder.path}/slept'\n`, { mode: 0o755 })
  const ended = await new Promise<Ended>((resolve) => {
    const options = { cwd: ROOT, env: { PATH: process.env.PATH ?? '', HOLDFAST_SLEEP: sleeper, ...env } }
    execFile('bash', args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
  const slept = await readFile(join(folder.path, 'slept'), 'utf8').catch(() => '')
  return { ...ended, slept: slept.split('\n').filter(Boolean), folder: folder.path }
}

const submit = ({ url }: { url: string }, env: Record<string, string> = {}, args = ['forecast', '{"scenario":"a"}']) =>
  shell([SCRIPT, ...args], { HOLDFAST_URL: url, ...env })

const printed = ({ stdout }: Ended) =>
  Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  )

const accepted = answers(201, { ...wireRun(), idempotent_hit: false })
const keysOf = ({ seen }: ScriptedServer) => seen.map((request) => request.json().idempotency_key)

/** An API on a port, on a database of its own. */
async function liveApi() {
  const api = await createTestApi()
  return { ...api, url: await api.app.listen({ port: 0, host: '127.0.0.1' }) }
}

describe('the script', () => {
  test('R413: makes a run and prints its id', async () => {
    const api = await liveApi()
    const ended = await submit(api, { HOLDFAST_KEY: 'k"\\ 1' })
    expect(ended).toMatchObject({ code: 0, slept: [] })
    expect(printed(ended)).toEqual({
      RUN_ID: expect.stringMatching(HASH),
      JOB_ID: printed(ended).RUN_ID,
      MATCHED: 'false',
    })
    const again = await submit(api, { HOLDFAST_KEY: 'k"\\ 1' })
    expect(printed(again)).toEqual({ ...printed(ended), MATCHED: 'true' })
    expect(await api.stored()).toEqual({ runs: 1, keys: 1 })
  })

  test.each([
    [{ GITHUB_SHA: 'abc', GITHUB_REPOSITORY: 'o/r', CI_COMMIT_SHA: 'no' }, /^gh-o\/r-abc$/],
    [{ CI_COMMIT_SHA: 'def', CI_PROJECT_PATH: 'g/p' }, /^gitlab-g\/p-def$/],
    [{}, /^manual-\d{8}-\d{6}-\d+$/],
  ])('R413: the key comes from %j', async (env, key) => {
    const server = await scriptedServer(accepted)
    expect((await submit(server, env as Record<string, string>)).code).toBe(0)
    expect(keysOf(server)[0]).toMatch(key)
  })

  test('R407: is sent again after 2, 4 and 8 seconds with the same key, and after what Retry-After asks', async () => {
    const busy = refuses(503, 'busy', { 'retry-after': '1' })
    const server = await scriptedServer(loses(), busy, refuses(429, 'rate-limited', { 'retry-after': '30' }), accepted)
    const ended = await submit(server)
    expect(ended).toMatchObject({ code: 0, slept: ['2', '4', '30'] })
    expect(new Set(server.seen.map(({ text }) => text)).size).toBe(1)
  })

  test('gives up after three retries, and says with which key to ask again', async () => {
    const server = await scriptedServer()
    server.otherwise(refuses(503, 'busy'))
    const ended = await submit(server, { HOLDFAST_KEY: 'mine' })
    expect(ended).toMatchObject({ code: 4, slept: ['2', '4', '8'], stdout: '' })
    expect(ended.stderr).toContain('The run may exist: start this again with the key mine')
  })

  test('a service that does not answer in time counts as lost', async () => {
    const server = await scriptedServer(saysNothing, accepted)
    const ended = await submit(server, { HOLDFAST_TIMEOUT_SECONDS: '0.2' })
    expect(ended).toMatchObject({ code: 0, slept: ['2'] })
  })

  test.each([
    [403, 'quota-exceeded', 3],
    [429, 'quota-exceeded', 3],
    [403, 'cost-limit-exceeded', 3],
    [409, 'idempotency-key-reused', 1],
    [401, 'unauthorized', 1],
  ])('R413: %i %s is not sent again and ends with %i', async (status, code, exit) => {
    const server = await scriptedServer(refuses(status, code, {}, { detail: 'A "quoted" reason.' }))
    const ended = await submit(server)
    expect(ended).toMatchObject({ code: exit, slept: [], stdout: '' })
    expect(ended.stderr).toContain(`${code}): A "quoted" reason.`)
    expect(server.seen).toHaveLength(1)
  })

  test('R414: what the service warns of is said, and what a user wrote under the same name is not', async () => {
    const warned = { quota_warnings: ['4 of 5 "runs"', 'near, too'], cost_limit_warning: '90 % of the month' }
    const parameters = { quota_warnings: ['mine'], cost_limit_warning: 'mine' }
    const server = await scriptedServer(
      answers(201, { ...wireRun({ parameters }), idempotent_hit: false, ...warned }),
      answers(201, { ...wireRun(), idempotent_hit: false, quota_warnings: [], cost_limit_warning: null }),
    )
    const lines = ({ stderr }: Ended) => stderr.split('\n').filter((line) => line.startsWith('warning'))
    const ended = await submit(server)
    expect(ended).toMatchObject({ code: 0, slept: [] })
    expect(lines(ended)).toEqual(['warning: 4 of 5 "runs"', 'warning: near, too', 'warning: 90 % of the month'])
    expect(lines(await submit(server))).toEqual([])
  })

  test('sends the token and shows it to nobody', async () => {
    const server = await scriptedServer(accepted)
    const ended = await submit(server, { HOLDFAST_TOKEN: 'hf_secret' })
    expect(server.seen[0]!.headers.authorization).toBe('Bearer hf_secret')
    expect(ended.stdout + ended.stderr).not.toContain('hf_secret')
  })

  test('waits for the end of the run when asked to, and fails with it', async () => {
    const ends = (status: 'SUCCEEDED' | 'FAILED') => [
      accepted,
      answers(200, wireRun({ status: 'RUNNING' })),
      answers(200, wireRun({ status })),
    ]
    const server = await scriptedServer(...ends('SUCCEEDED'), ...ends('FAILED'))
    const well = await submit(server, { HOLDFAST_WAIT: '1' })
    expect(well).toMatchObject({ code: 0, slept: ['1'] })
    expect(printed(well)).toMatchObject({ RUN_ID, STATUS: 'SUCCEEDED' })
    expect(server.seen[1]!.headers.prefer).toBe('wait=55')
    const badly = await submit(server, { HOLDFAST_WAIT: '1' })
    expect(badly.code).toBe(5)
    expect(printed(badly)).toMatchObject({ STATUS: 'FAILED' })
  })

  test.each([[[]], [['a', '{}', 'c']], [['a"b']]])('used wrongly it says how and ends with 2: %j', async (args) => {
    expect((await submit({ url: 'http://127.0.0.1:1' }, {}, args)).code).toBe(2)
  })

  test.skipIf(!hasShellcheck())('shellcheck has nothing to say', () => {
    execFileSync('shellcheck', [SCRIPT], { stdio: 'pipe' })
  })
})

type Step = { name?: string; id?: string; uses?: string; run?: string; shell?: string; env?: Record<string, string> }
type Job = { 'runs-on': string; env: Record<string, string>; outputs: Record<string, string>; steps: Step[] }
type Workflow = { name: string; on: Record<string, unknown>; permissions: object; jobs: Record<string, Job> }

describe('the workflow', () => {
  const workflow = parse(readFileSync(WORKFLOW, 'utf8')) as Workflow
  const job = workflow.jobs.submit!
  const scripts = job.steps.filter(({ run }) => run !== undefined)

  /** As GitHub does it: expressions filled in, each step a Bash script of its own. */
  async function runSteps(url: string, sha: string, more: Record<string, string> = {}) {
    const folder = await tempFolder()
    onTestFinished(folder.remove)
    const output = join(folder.path, 'output')
    await writeFile(output, '')
    const github = { repository: 'o/r', sha }
    const filled = (env: Record<string, string> = {}) =>
      Object.fromEntries(
        Object.entries(env).map(([name, value]) => [
          name,
          value.replace(/\$\{\{ github\.(\w+) \}\}/g, (_, key) => github[key as 'sha']),
        ]),
      )
    const env = {
      ...filled(job.env),
      HOLDFAST_URL: url,
      HOLDFAST_TOKEN: '',
      MODEL: MODEL.name,
      PARAMETERS: '{"scenario":"a"}',
    }
    const ended = []
    for (const step of scripts) {
      const one = await shell(['-c', step.run!], {
        ...env,
        ...filled(step.env),
        GITHUB_OUTPUT: output,
        GITHUB_SHA: sha,
        ...more,
      })
      ended.push(one)
      if (one.code !== 0) break
    }
    return { ended, output: await readFile(output, 'utf8') }
  }

  test('has the shape of one', () => {
    expect(Object.keys(workflow)).toEqual(['name', 'on', 'permissions', 'jobs'])
    expect(Object.keys(workflow.on)).toEqual(['push', 'workflow_dispatch'])
    expect(job['runs-on']).toBe('ubuntu-latest')
    expect(job.outputs.run_id).toBe(`\${{ steps.submit.outputs.run_id }}`)
    expect(job.env.HOLDFAST_KEY).toBe(`gh-\${{ github.repository }}-\${{ github.sha }}`)
    expect(scripts.map(({ id }) => id)).toEqual(['submit', undefined])
    for (const step of job.steps) expect(Boolean(step.run) !== Boolean(step.uses)).toBe(true)
    // What an expression puts into a script is code; into the environment it is only text.
    for (const step of scripts) expect(step.run).not.toContain('${{')
  })

  test('R412: a rerun of a commit finds its run, with a notice, and the id goes to the output', async () => {
    const api = await liveApi()
    const first = await runSteps(api.url, 'abc', { HOLDFAST_WAIT: '0' })
    expect(first.ended.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0])
    expect(first.ended[0]!.stdout).not.toContain('::notice')
    const runId = /^run_id=(.*)\n$/.exec(first.output)?.[1]
    expect(runId).toMatch(HASH)
    const second = await runSteps(api.url, 'abc', { HOLDFAST_WAIT: '0' })
    expect(second.output).toBe(first.output)
    expect(second.ended[0]!.stdout).toContain(`::notice title=Holdfast::This commit has its run already: ${runId}`)
    const other = await runSteps(api.url, 'def', { HOLDFAST_WAIT: '0' })
    expect(other.output).not.toBe(first.output)
    expect(await api.stored()).toEqual({ runs: 2, keys: 2 })
  })

  test('the second step waits for the run of the first', async () => {
    const api = await liveApi()
    await runSteps(api.url, 'abc', { HOLDFAST_WAIT: '0' })
    await api.settle(await api.claim(), {
      kind: 'succeed',
      result: { ref: 'inline', hash: '0'.repeat(64), text: '{}' },
    })
    const { ended } = await runSteps(api.url, 'abc')
    expect(ended[1]).toMatchObject({ code: 0, stdout: expect.stringContaining('STATUS=SUCCEEDED') })
  })

  test('R412: a refusal is an error annotation and fails the step', async () => {
    const server = await scriptedServer(
      refuses(403, 'quota-exceeded', {}, { detail: 'Quota exceeded: Maximum 5 concurrent runs allowed' }),
    )
    const { ended, output } = await runSteps(server.url, 'abc')
    expect(ended).toHaveLength(1)
    expect(ended[0]).toMatchObject({ code: 1 })
    expect(ended[0]!.stdout).toContain(
      '::error title=Holdfast::refused (403 quota-exceeded): Quota exceeded: Maximum 5',
    )
    expect(output).toBe('')
  })
})

function hasShellcheck(): boolean {
  try {
    execFileSync('shellcheck', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
