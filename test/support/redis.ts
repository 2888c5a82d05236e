/** A real Redis for tests, where `redis-server` is installed: on a free loopback port, without files, gone with the test. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { freePort } from '../../src/store/embedded/free-port.ts'

export const NO_REDIS = 'redis-server is not installed; apt-get install redis-server'

export type TestRedis = {
  url: string
  /** Stops the process in its tracks (SIGSTOP): connections stay open and nothing answers. */
  pause(): void
  resume(): void
  /** Ends it as a crash would; safe to call twice. */
  stop(): Promise<void>
}

/** Null when there is no redis-server: `const redis = await redisForTests()`, then `describe.skipIf(!redis)` with NO_REDIS. */
export async function redisForTests(wantedPort?: number): Promise<TestRedis | null> {
  for (let tries = 1; ; tries++) {
    const port = await freePort(wantedPort)
    const child = launch(port)
    const outcome = await becomesReady(child)
    if (outcome === 'ready') return handle(child, port)
    if (outcome === 'missing') return null
    if (tries === 5) throw new Error(`redis-server does not start: ${outcome}`)
  }
}

function launch(port: number): ChildProcess {
  const server = ['redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const [command = '', ...args] =
    process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL', '--', ...server] : server
  return spawn(command, args, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
}

async function becomesReady(child: ChildProcess): Promise<string> {
  const lines: string[] = []
  return new Promise((resolve) => {
    const follow = (line: string) => {
      lines.push(line)
      if (line.includes('Ready to accept connections')) resolve('ready')
    }
    for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', follow)
    child.once('error', () => resolve('missing'))
    // setpriv answers 127 when it finds no such program.
    child.once('close', (code) => resolve(code === 127 ? 'missing' : lines.slice(-5).join('\n')))
  })
}

function handle(child: ChildProcess, port: number): TestRedis {
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const closed = once(child, 'close')
      child.kill('SIGKILL')
      await closed
    },
  }
}
