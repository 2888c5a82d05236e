/**
 * `npm run fuzz`: many more requests per operation than a test run sends, then Schemathesis against a live service, when it
 * is installed.
 *
 * FUZZ_CASES and FUZZ_SEED are as in the test; FUZZ_EXAMPLES says how many examples Schemathesis makes per operation.
 */

import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openPlace } from '../support/processes.ts'

const CASES = '2000'
const EXAMPLES = process.env.FUZZ_EXAMPLES ?? '200'
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]
const INSTALL = `Schemathesis is not installed, so only our own requests were sent. To send its too:
  pipx install schemathesis     (or: uv tool install schemathesis)
`

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
const own = await run(process.execPath, [vitest, 'run', 'test/fuzz'], { FUZZ_CASES: CASES, ...process.env })
const program = ['schemathesis', 'st'].find((name) => spawnSync(name, ['--version']).status === 0)
if (!program) process.stdout.write(INSTALL)
const other = program ? await schemathesis(program) : 0
process.exitCode = own || other

function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env, cwd?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env, cwd })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

async function schemathesis(command: string): Promise<number> {
  const place = await openPlace()
  try {
    const { url } = await place.startAll({ HOLDFAST_RATE_LIMIT_PER_MINUTE: '0' })
    const token = await makeToken(url)
    const args = ['run', `${url}/openapi.json`, '--checks', CHECKS.join(','), '--max-examples', EXAMPLES]
    // Its stateful phase would revoke the token it shows.
    args.push('--phases', 'examples,coverage,fuzzing', '--header', `Authorization: Bearer ${token}`)
    args.push('--request-timeout', '30', '--workers', '2')
    if (process.env.FUZZ_SEED) args.push('--seed', process.env.FUZZ_SEED)
    // It keeps notes in its working folder.
    return await run(command, args, process.env, place.folder)
  } finally {
    await place.close()
  }
}

async function makeToken(url: string): Promise<string> {
  const response = await fetch(`${url}/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ role: 'admin', owner: 'default', name: 'fuzz' }),
  })
  return ((await response.json()) as { token: string }).token
}
