/** Demo: the report that everybody waits for in the morning. */

import { z } from 'zod'
import { model } from '../../../src/model/model.ts'
import { works } from '../pace.ts'

export const nightlyReport = model({
  name: 'nightly_report',
  version: '7',
  description: 'Collects the figures of a day and renders the report of a team.',
  queue: 'reports',
  executor: 'inline',
  priority: 10,
  expectedSeconds: 45,
  timeoutSeconds: 3_600,
  parameters: z.strictObject({
    day: z.iso.date(),
    team: z.enum(['finance', 'sales', 'operations', 'board']),
    with_forecast: z.boolean().default(true),
    recipients: z.array(z.email()).default([]),
  }),
})
  .step('collect', async ({ team, day }, ctx) => {
    ctx.logger.info(`figures of ${team} for ${day}`)
    await works(15, ctx.signal)
    return { tables: 14, rows: 48_210 }
  })
  .step('render', async (collected, ctx) => {
    await works(ctx.parameters.team === 'board' ? 400 : 20, ctx.signal)
    return { ...collected, pages: 12 }
  })
  .step('publish', async ({ pages, rows }, ctx) => {
    await works(4, ctx.signal)
    return { pages, rows, sent_to: ctx.parameters.recipients.length }
  })
