/**
 * A Ray cluster of one small node on loopback, in a folder and on ports of its own, so that it disturbs no other Ray on the machine and nothing
 * of it is left. It can be killed as a machine would be, and started again at the same address.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { RayClient } from '../../src/executor/ray-client.ts'
import { killAllIn, processesIn } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { isRunning } from './is-running.ts'

export type Cluster = {
  address: string
  client: RayClient
  start(): Promise<void>
  /** SIGKILL to everything of it at once. */
  kill(): Promise<void>
  close(): Promise<void>
}

const PREFIX = 'hfr-'

export async function openCluster(env: Record<string, string> = {}): Promise<Cluster> {
  const binaries = process.env.HOLDFAST_TEST_RAY
  if (!binaries) throw new Error('these tests are run by `npm run test:ray`')
  await removeAbandoned()
  // Short, because sockets lie below it and their paths are limited.
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
  const [gcs, dashboard, agent, clients] = await freePorts(4)
  const address = `http://127.0.0.1:${dashboard}`
  const client = new RayClient({ address, token: () => env.RAY_AUTH_TOKEN ?? null })
  let head: ChildProcess | null = null
  let output = ''

  async function start(): Promise<void> {
    const argv = [
      'start',
      '--head',
      '--block',
      '--num-cpus=4',
      '--object-store-memory=100000000',
      '--disable-usage-stats',
    ]
    argv.push('--include-dashboard=true', '--dashboard-host=127.0.0.1', '--node-ip-address=127.0.0.1')
    argv.push('--include-log-monitor=false', `--temp-dir=${folder}`, `--port=${gcs}`, `--dashboard-port=${dashboard}`)
    argv.push(`--dashboard-agent-listen-port=${agent}`, `--ray-client-server-port=${clients}`)
    const path = [binaries, process.env.PATH].join(delimiter)
    head = spawn(join(binaries!, 'ray'), argv, {
      cwd: folder,
      env: { PATH: path, HOME: folder, LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [head.stdout!, head.stderr!]) stream.on('data', (text) => (output += text))
    const up = async () => {
      if (head?.exitCode !== null) throw new Error(`ray start ended:\n${output}`)
      return client.version().catch(() => null)
    }
    await until(up, { what: 'the dashboard answers', timeoutMs: 60_000, everyMs: 200 })
    await acceptsJobs(client)
  }

  async function kill(): Promise<void> {
    const exited = head && head.exitCode === null && head.signalCode === null ? once(head, 'exit') : null
    await until(() => killAllIn(folder).length === 0, { what: 'the cluster is gone', timeoutMs: 30_000 })
    await exited
  }

  await start()
  return {
    address,
    client,
    start,
    kill,
    async close() {
      client.close()
      await kill()
      if (processesIn(folder).length > 0) throw new Error(processesIn(folder).join('\n'))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What a suite that was killed left: its name carries the process that started it. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN
    if (!(pid > 0) || isRunning(pid)) continue
    const folder = join(tmpdir(), name)
    await until(() => killAllIn(folder).length === 0, { what: `${folder} is abandoned`, timeoutMs: 10_000 })
    await rm(folder, { recursive: true, force: true })
  }
}

/** A POST right after the start is answered 500 until the agent is there. */
async function acceptsJobs(client: RayClient): Promise<void> {
  let tries = 0
  const accepts = () => {
    tries += 1
    const submission = { entrypoint: 'true', submission_id: `ready-${tries}`, runtime_env: {}, metadata: {} }
    return client.submit(submission).then(
      () => true,
      () => false,
    )
  }
  await until(accepts, { what: 'the cluster accepts jobs', timeoutMs: 60_000, everyMs: 500 })
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))))
  return ports
}
