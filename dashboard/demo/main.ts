/**
 * `npm run demo`: a service with a day of runs in it, on a throw-away folder, until Ctrl-C. It listens on
 * HOLDFAST_PORT, 4600 when not set.
 *
 * With HOLDFAST_URL set it fills that service instead, through its API and in real time: start it with
 * HOLDFAST_MODELS naming the files of dashboard/demo/models and examples/document-pipeline/document-pipeline.ts, and
 * HOLDFAST_QUEUES=default,climate,gpu,logistics,reports.
 */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import buildFirst from '../e2e/support/build-first.ts'
import { startDemoHouse } from './demo-house.ts'
import { type Demo, demoOf, fillDocuments, fillPair, fillRules, fillWaiting } from './fill.ts'
import { fillNow, fillRunning } from './now.ts'
import { dayOfRequests, perHour } from './requests.ts'

const DAY_SECONDS = 90
const HOUR_MS = 3_600_000
const FILLED_RUNS = 120

const say = (line: string) => console.log(`demo: ${line}`)

/** In real time, as they would come in; refusals are part of it. */
async function goOn(demo: Demo, isOver: () => boolean): Promise<void> {
  const nowMs = Date.now()
  for (const request of dayOfRequests(nowMs, nowMs + 24 * HOUR_MS, nowMs % 1_000)) {
    if (isOver()) return
    await demo.submit(request).catch(() => {})
    await sleep(Math.min(20_000, HOUR_MS / perHour(Date.now()) / 4))
  }
}

async function fillOther(url: string): Promise<void> {
  const demo = demoOf(url, process.env.HOLDFAST_TOKEN)
  const offered = new Set<string>()
  for await (const { name, offered: isOffered } of demo.as('operations').models.list()) if (isOffered) offered.add(name)
  if (!offered.has('climate_forecast')) {
    throw new Error('no worker of this service offers the models of the demo; see the top of dashboard/demo/main.ts')
  }
  const nowMs = Date.now()
  for (const request of dayOfRequests(nowMs - 4 * HOUR_MS, nowMs).slice(-FILLED_RUNS)) {
    await demo.submit(request).catch(() => {})
  }
  await fillPair(demo)
  if (offered.has('document_pipeline_v1')) await fillDocuments(demo, 'Invoices of last month')
  await fillRunning(demo)
  await fillWaiting(demo)
  // Last: with so much waiting, the limits would refuse the rest.
  await fillRules(demo, null)
  say(`look at ${url}/ui/`)
}

async function keepOwn(): Promise<void> {
  await buildFirst()
  const house = await startDemoHouse({ port: Number(process.env.HOLDFAST_PORT ?? 4600), daySeconds: DAY_SECONDS, say })
  const stop = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  let isOver = false
  void stop.then(() => {
    isOver = true
  })
  try {
    await Promise.race([fillNow(house), stop])
    if (!isOver) say(`look at ${house.url}/ui/ – Ctrl-C ends it and removes everything`)
    void goOn(house.demo, () => isOver)
    await stop
  } finally {
    await house.close()
  }
}

const url = process.env.HOLDFAST_URL
await (url ? fillOther(url) : keepOwn())
