/**
 * What goes on at this very moment: runs that last, a worker that was killed in the middle of one, documents, a pair
 * to compare.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Holdfast } from '../../client/src/index.ts'
import type { DemoHouse } from './demo-house.ts'
import { type Demo, fillDocuments, fillWaiting } from './fill.ts'
import { churn, climate, dayOf, isBrokenMonth, pricing, routes } from './requests.ts'
import { chanceOf } from './seeded.ts'

const PROGRAM = resolve(import.meta.dirname, '../../bin/holdfast.js')
const HOST_NAME = join(import.meta.dirname, 'host-name.ts')
const LOOK_MS = 100
/** Long enough to be seen running. */
const PACE_OF_WATCHED = '0.3'

/** Runs by what they show. */
export type Shown = { lost: string; pair: [string, string]; running: string; batch: string }

export async function fillNow(house: DemoHouse): Promise<Shown> {
  const { demo, pair } = house
  process.env.DEMO_PACE = '0.02'
  const lost = await loseWorker(house)
  await house.startWorker('compute-1')
  await house.startWorker('compute-2')
  const batch = await fillDocuments(demo, 'Invoices of last month')
  await Promise.all([lost, ...pair].map((runId) => demo.as('operations').wait(runId)))
  process.env.DEMO_PACE = PACE_OF_WATCHED
  const running = await fillRunning(demo)
  await fillWaiting(demo)
  return { lost, pair, running, batch }
}

export async function fillRunning(demo: Demo): Promise<string> {
  const chance = chanceOf(34)
  const watched = await demo.submit({ ...climate(chance), owner: 'ana.ruiz' })
  for (let count = 0; count < 4; count += 1) await demo.submit(routes(chance, Date.now()))
  for (let count = 0; count < 5; ) {
    const training = churn(chance, Date.now())
    if (isBrokenMonth(String(training.parameters.dataset))) continue
    await demo.submit(training)
    count += 1
  }
  for (let count = 0; count < 3; count += 1) await demo.submit(pricing(chance))
  return watched.runId
}

/** A worker process takes a run and is killed in its third step; the lease it held is over after some seconds. */
async function loseWorker({ demo, settings }: DemoHouse): Promise<string> {
  const env = {
    ...settings,
    PATH: process.env.PATH ?? '',
    HOLDFAST_QUEUES: 'logistics',
    HOLDFAST_LEASE_SECONDS: '4',
    DEMO_HOST: 'compute-3',
    DEMO_PACE: '0.1',
  }
  const worker = spawn(process.execPath, ['--import', HOST_NAME, PROGRAM, 'worker'], { env, stdio: 'ignore' })
  const ended = once(worker, 'exit')
  const client = demo.as('logistics')
  const mustLive = () => {
    if (worker.exitCode !== null) throw new Error('the worker that was to be killed ended by itself')
  }
  while (!(await isThere(client, 'compute-3'))) {
    mustLive()
    await sleep(LOOK_MS)
  }
  const day = dayOf(Date.now() + 24 * 3_600_000)
  const { runId } = await demo.submit({
    owner: 'logistics',
    model: 'route_optimisation',
    parameters: { depot: 'Lyon', day, stops: 96, vehicles: 9 },
    title: `Tours of Lyon, ${day}`,
    tags: ['depot:lyon', 'stops:100'],
  })
  for (;;) {
    const { attempts } = await client.get(runId)
    const progress = attempts?.[0]?.progress as { done?: number } | null | undefined
    if ((progress?.done ?? 0) >= 4) break
    mustLive()
    await sleep(LOOK_MS)
  }
  worker.kill('SIGKILL')
  await ended
  return runId
}

async function isThere(client: Holdfast, host: string): Promise<boolean> {
  for await (const worker of client.workers.list({ state: 'live' })) if (worker.host === host) return true
  return false
}
