/**
 * Builds the dashboard beside `holdfast start`, in a process of its own that gives way to everything else, when it is missing or old.
 * It delays nothing and ends nothing: whatever goes wrong with it is a warning that says what to do.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import type { DashboardBuildState } from '../api/dashboard-absent-page.ts'
import type { Log } from '../telemetry/log.ts'
import { mustBuild } from './dashboard-age.ts'

const NEXT_STEP = 'npm run build -w dashboard'
const LINES_MAX = 30
const STOP_MS_MAX = 3_000
/** Nothing else of ours is its business, least of all the address of the database. */
const HANDED_ON = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot']

export type DashboardBuild = {
  state(): DashboardBuildState
  /** Starts it, if there is something to build, and waits for nothing. */
  begin(): void
  stop(): Promise<void>
}

/** `root` is the folder of the dashboard in a checkout; null when another folder is served, which is not ours to build. */
export async function planDashboardBuild(options: {
  root: string | null
  env: NodeJS.ProcessEnv
  log: Log
}): Promise<DashboardBuild> {
  const { root, env, log } = options
  const isWanted = root !== null && (await mustBuild(root).catch(() => false))
  let state: DashboardBuildState = isWanted ? 'building' : 'idle'
  let child: ChildProcess | null = null
  let isStopping = false

  function settle(outcome: { code: number | null; signal?: string | null; seconds: number; output: string[] }): void {
    const { code, signal, seconds, output } = outcome
    state = code === 0 ? 'idle' : 'failed'
    if (code === 0) log.info({ seconds }, 'dashboard built')
    else if (!isStopping) {
      const next = `To see why, and once it is mended: ${NEXT_STEP}`
      log.warn({ code, signal, output, next }, 'the dashboard could not be built; everything else works')
    }
  }

  return {
    state: () => state,
    begin() {
      if (!isWanted || child !== null) return
      log.info('the dashboard is being built')
      child = run(join(root, 'build.ts'), env, settle, log)
    },
    async stop() {
      isStopping = true
      if (child === null || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const timer = setTimeout(() => child?.kill('SIGKILL'), STOP_MS_MAX)
      await ended
      clearTimeout(timer)
    },
  }
}

type Settle = (outcome: { code: number | null; signal?: string | null; seconds: number; output: string[] }) => void

function run(program: string, env: NodeJS.ProcessEnv, settle: Settle, log: Log): ChildProcess {
  const startedAtMs = performance.now()
  const output: string[] = []
  const handedOn = HANDED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))
  const child = fork(program, ['--gently'], {
    env: { ...Object.fromEntries(handedOn), NO_COLOR: '1' },
    execArgv: [],
    // A channel, so that it notices when we are gone.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', (coloured) => {
      const line = stripVTControlCharacters(coloured)
      log.debug({ line }, 'dashboard build')
      output.push(line)
      if (output.length > LINES_MAX) output.shift()
    })
  }
  const seconds = () => Math.round((performance.now() - startedAtMs) / 100) / 10
  child.once('error', (error) => settle({ code: null, seconds: seconds(), output: [...output, error.message] }))
  // When all that it printed was read.
  child.once('close', (code, signal) => settle({ code, signal, seconds: seconds(), output }))
  return child
}
