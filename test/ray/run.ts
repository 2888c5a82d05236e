/**
 * `npm run test:ray`: a virtual environment with Ray in a cache folder, made once, then the suite on clusters of its own. Where Ray cannot be
 * installed because there is no Python or no way to the package index, it says so and that is no failure. With `--install` it only installs.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RAY = '2.60.0'
/** What pip says when it does not get through. */
const NO_WAY =
  /NewConnectionError|Failed to establish|ConnectTimeout|ReadTimeout|Name or service not known|name resolution|ProxyError|Max retries exceeded|connection broken|403 Forbidden/i
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

function leave(message: string): never {
  console.log(`\n== The tests on a real Ray were NOT run: ${message}`)
  process.exit(0)
}

function pythonFound(): string {
  const check = 'import sys, venv, ensurepip; raise SystemExit(sys.version_info < (3, 10) or sys.platform != "linux")'
  for (const python of ['python3', 'python3.12', 'python3.11', 'python3.10']) {
    if (spawnSync(python, ['-c', check], { stdio: 'ignore' }).status === 0) return python
  }
  return leave('they need Linux and Python 3.10 or newer with the venv module.')
}

function installed(): string {
  const cache =
    process.env.HOLDFAST_TEST_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'holdfast')
  const folder = join(cache, `ray-${RAY}`)
  const binaries = join(folder, 'bin')
  const done = join(folder, 'installed')
  if (existsSync(done)) return binaries
  const python = pythonFound()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  console.log(`== Installing ray ${RAY} into ${folder}`)
  execFileSync(python, ['-m', 'venv', folder], { stdio: 'inherit' })
  const argv = ['-m', 'pip', 'install', '--quiet', '--retries', '2', '--timeout', '30', `ray[default]==${RAY}`]
  const pip = spawnSync(join(binaries, 'python'), argv, { encoding: 'utf8' })
  if (pip.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    if (NO_WAY.test(pip.stderr)) leave('the Python package index cannot be reached from here.')
    console.error(pip.stdout, pip.stderr)
    process.exit(1)
  }
  writeFileSync(done, RAY)
  return binaries
}

if (process.argv[2] === '--install') {
  installed()
  process.exit(0)
}
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const argv = [vitest, 'run', '--config', 'test/ray/vitest.config.ts', '--root', ROOT, ...process.argv.slice(2)]
const env = { ...process.env, HOLDFAST_TEST_RAY: installed() }
process.exit(spawnSync(process.execPath, argv, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1)
