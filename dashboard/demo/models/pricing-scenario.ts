/** Demo: many short runs, as an analyst makes them while trying things out. */

import { z } from 'zod'
import { model, RetryAfter } from '../../../src/model/model.ts'
import { works } from '../pace.ts'

export const pricingScenario = model({
  name: 'pricing_scenario',
  version: '3',
  description: 'What a change of price does to sales and margin of a product line.',
  executor: 'inline',
  expectedSeconds: 20,
  retry: { maxAttempts: 5 },
  parameters: z.strictObject({
    product_line: z.string().min(2).max(60),
    price_change_percent: z.number().min(-50).max(50).default(0),
    elasticity: z.number().min(-5).max(0).default(-1.2),
    weeks: z.int().min(1).max(104).default(13),
  }),
  async run({ product_line, price_change_percent: change, elasticity, weeks }, ctx) {
    await works(3 + weeks * 0.6, ctx.signal)
    if (ctx.attempt === 1 && ctx.random() < 0.06) throw new RetryAfter(4, 'the rates service asks to come back in 4 s')
    ctx.logger.info(`${weeks} weeks of ${product_line} at ${change} %`)
    const units = 1 + (change / 100) * elasticity
    return {
      product_line,
      units_change_percent: Math.round((units - 1) * 1_000) / 10,
      margin_change_percent: Math.round(((1 + change / 100) * units - 1) * 1_000) / 10,
      weeks,
    }
  },
})
