/**
 * How Postgres programs are started on this machine.
 *
 * Two things are wanted. The server dies with us, even when we are killed: on Linux `setpriv --pdeathsig` asks the kernel for it (the signal
 * follows the thread that spawned, so start the server from the main thread). And Postgres refuses to run as root: a user
 * namespace makes root look like an ordinary user and leaves its files alone; where namespaces are forbidden, as in many
 * containers, the programs run as nobody instead. Each way is tried with `postgres --version`, and the first that works is taken.
 */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { userInfo } from 'node:os'

const NOBODY = 65534
const DIE_WITH_PARENT = ['setpriv', '--pdeathsig', 'INT', '--']
const AS_NOBODY_INSIDE = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--']

export type Way = { prefix: readonly string[]; uid?: number; gid?: number }

/** `major` is the version of the binaries. */
export type Launcher = Way & { major: number }

export async function chooseLauncher(postgres: string, ways: readonly Way[] = waysHere()): Promise<Launcher> {
  const refusals: string[] = []
  for (const way of ways) {
    const { code, output } = await runToEnd(way, postgres, ['--version'])
    const major = /PostgreSQL\) (\d+)/.exec(output)?.[1]
    if (code === 0 && major) return { ...way, major: Number(major) }
    refusals.push(`${[...way.prefix, postgres].join(' ')}: ${output.trim() || `exit code ${code}`}`)
  }
  throw new Error(`The embedded Postgres cannot be started here; set DATABASE_URL instead.\n${refusals.join('\n')}`)
}

export function launch(way: Way, program: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const [command = program, ...rest] = [...way.prefix, program, ...args]
  return spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    uid: way.uid,
    gid: way.gid,
    // Nothing of our environment (tokens, LD_PRELOAD, PG*) reaches the server; LC_ALL keeps its messages in English.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    ...options,
  })
}

/** Runs a program to its end and gathers what it printed. */
export function runToEnd(
  way: Way,
  program: string,
  args: readonly string[],
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = launch(way, program, args)
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
    })
    child.stderr?.on('data', (chunk) => {
      output += chunk
    })
    child.once('error', (error) => resolve({ code: -1, output: error.message }))
    child.once('close', (code) => resolve({ code: code ?? -1, output }))
  })
}

function waysHere(): Way[] {
  const linux = process.platform === 'linux'
  if (process.getuid?.() === 0) {
    const asNobody: Way = { prefix: linux ? DIE_WITH_PARENT : [], uid: NOBODY, gid: NOBODY }
    return linux ? [{ prefix: [...AS_NOBODY_INSIDE, ...DIE_WITH_PARENT] }, asNobody] : [asNobody]
  }
  const plain: Way[] = linux ? [{ prefix: DIE_WITH_PARENT }, { prefix: [] }] : [{ prefix: [] }]
  // initdb asks the system for the user's name, which a user id picked by a container runtime does not have.
  return linux && !userHasName() ? [{ prefix: [...AS_NOBODY_INSIDE, ...DIE_WITH_PARENT] }, ...plain] : plain
}

function userHasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}
