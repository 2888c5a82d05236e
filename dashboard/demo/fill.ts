/**
 * Fills a service with what people see in the pictures, through its API alone: rules and receivers, then runs in
 * every state. Works on any open service, or with a token of an administrator, as long as its workers offer the
 * models of this folder.
 */

import { Holdfast, type SubmitOptions, type Submitted } from '../../client/src/index.ts'
import { demoDocuments } from './documents.ts'
import { climate, type DemoRequest, dayOf, isBrokenMonth, monthBefore, routes } from './requests.ts'
import { chanceOf } from './seeded.ts'

const HOUR_MS = 3_600_000

export type Demo = {
  /** A client that acts for the owner. */
  as(owner: string): Holdfast
  submit(request: Omit<DemoRequest, 'atMs' | 'afterwards'>, more?: SubmitOptions): Promise<Submitted>
}

export function demoOf(url: string, token?: string): Demo {
  const clients = new Map<string, Holdfast>()
  const as = (owner: string) => {
    const client = clients.get(owner) ?? new Holdfast({ url, token, owner })
    clients.set(owner, client)
    return client
  }
  return {
    as,
    submit: ({ owner, model, parameters, title, tags }, more) =>
      as(owner).submit(model, parameters, { title, tags, dedupe: 'off', ...more }),
  }
}

/** Quotas, saved views, and who hears of what. */
export async function fillRules({ as }: Demo, receiverUrl: string | null): Promise<void> {
  const operator = as('operations')
  await operator.quotas.put('*', { max_concurrent: 40, runs_per_day: 2_000 })
  await operator.quotas.put('finance', { max_concurrent: 6, runs_per_hour: 120, action: 'warn' })
  await operator.quotas.put('ana.ruiz', { max_concurrent: 10, runs_per_day: 250 })
  await operator.quotas.put('forecasting', { cost_per_day: 1_500, cost_per_month: 20_000, action: 'warn' })
  await operator.views.create({ name: 'Failed today', filter: { status: ['FAILED'] }, shared: true })
  await operator.views.create({
    name: 'GPU queue',
    filter: { queue: ['gpu'], status: ['PENDING', 'RUNNING'] },
    shared: true,
  })
  await as('ana.ruiz').recipients.put({ address: 'ana.ruiz@example.com' })
  await as('finance').recipients.put({ address: 'invoices@example.com', kinds: ['failure', 'batch_finished'] })
  if (receiverUrl === null) return
  const everyone = { owner: '*' } as const
  await operator.webhooks.create({
    url: `${receiverUrl}/ok/operations`,
    events: ['run.failed', 'run.overdue', 'quota.warning', 'quota.exceeded'],
    description: 'Operations channel',
    ...everyone,
  })
  await as('logistics').webhooks.create({
    url: `${receiverUrl}/dispatch/tours`,
    events: ['run.failed'],
    description: 'Dispatch board (old)',
  })
}

/** A folder of documents, as finance hands it in; answers the id of the batch. */
export async function fillDocuments({ as }: Demo, title: string): Promise<string> {
  const items = demoDocuments().map(({ name, type, text }) => ({ input: new File([text], name, { type }) }))
  const options = { title, model: 'document_pipeline_v1', concurrency: 2 }
  return (await as('finance').files.uploadMany(items, options)).batchId
}

/** What waits: for its time, for approval, for its queue. */
export async function fillWaiting({ as, submit }: Demo): Promise<void> {
  const operator = as('operations')
  const chance = chanceOf(21)
  await operator.queues.pause('reports')
  for (const team of ['finance', 'sales', 'operations']) {
    const parameters = { day: dayOf(Date.now()), team, recipients: [`${team}@example.com`] }
    await submit({
      owner: 'reporting',
      model: 'nightly_report',
      parameters,
      title: `Report of ${team}, today`,
      tags: [`team:${team}`],
    })
  }
  const tomorrow = new Date(Math.ceil(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS + 4 * HOUR_MS)
  for (let count = 0; count < 3; count += 1) await submit(routes(chance, Date.now()), { availableAt: tomorrow })
  await operator.quotas.put(
    'forecasting',
    { max_concurrent: 2, action: 'require_approval' },
    { model: 'climate_forecast' },
  )
  for (let count = 0; count < 4; count += 1) await submit({ ...climate(chance), owner: 'forecasting' })
  await as('ana.ruiz').reservations.create({ ttlSeconds: 3_600, model: 'climate_forecast', cost: 12 })
}

/** Two trainings that differ in little, to be compared. */
export async function fillPair({ submit }: Demo): Promise<[string, string]> {
  const month = [1, 2].map((ago) => monthBefore(Date.now(), ago)).find((one) => !isBrokenMonth(one))
  const parameters = { dataset: `crm/${month}`, max_depth: 6, trees: 400, folds: 5 }
  const common = { owner: 'ml-platform', model: 'churn_training', tags: ['churn', 'tuning'] }
  const first = await submit({
    ...common,
    parameters: { ...parameters, learning_rate: 0.2 },
    title: 'Tuning: rate 0.2',
  })
  const second = await submit({
    ...common,
    parameters: { ...parameters, learning_rate: 0.08, max_depth: 7 },
    title: 'Tuning: rate 0.08, depth 7',
  })
  return [first.runId, second.runId]
}
