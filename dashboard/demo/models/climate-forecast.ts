/**
 * Demo: an ensemble forecast of regional temperature and rain, in steps, with a cost and a map over the members of
 * the ensemble.
 */

import { z } from 'zod'
import { model } from '../../../src/model/model.ts'
import { withStack, works } from '../pace.ts'

class ForcingsUnavailable extends Error {
  override readonly name = 'ForcingsUnavailable'
}

export const climateForecast = model({
  name: 'climate_forecast',
  version: '2.1',
  description: 'Downscaled ensemble forecast of temperature and precipitation for a region.',
  queue: 'climate',
  executor: 'inline',
  expectedSeconds: 600,
  timeoutSeconds: 7_200,
  retry: { maxAttempts: 4, delaysSeconds: [20, 60, 120] },
  cost: { estimate: 'double(parameters.members) * double(parameters.horizon_years) * 0.04', currency: 'EUR' },
  parameters: z.strictObject({
    region: z.string().min(2).max(80).describe('Country, state or river basin'),
    scenario: z.enum(['SSP1-2.6', 'SSP2-4.5', 'SSP5-8.5']).default('SSP2-4.5').describe('Emission pathway'),
    grid_km: z
      .union([z.literal(12), z.literal(25), z.literal(50)])
      .default(25)
      .describe('Resolution of the grid'),
    horizon_years: z.int().min(1).max(80).default(30),
    members: z.int().min(1).max(50).default(8).describe('Members of the ensemble'),
    variables: z.array(z.enum(['temperature', 'precipitation', 'wind'])).default(['temperature', 'precipitation']),
    bias_correction: z.boolean().default(true),
  }),
})
  .step(
    'load_forcings',
    async ({ scenario, region }, ctx) => {
      ctx.logger.info(`reading forcings of ${scenario} for ${region}`)
      await works(40, ctx.signal)
      if (region === 'Mekong Delta' && ctx.attempt === 1) {
        throw withStack(
          new ForcingsUnavailable(
            'GET https://forcings.internal/cmip6/v3: 503 Service Unavailable (upstream is restarting)',
          ),
          'readForcings (/srv/models/climate/forcings.ts:61:13)',
          'loadForcings (/srv/models/climate/steps.ts:22:20)',
        )
      }
      return { files: 48, gigabytes: 3.2 }
    },
    { retries: 0 },
  )
  .step('downscale', async (loaded, ctx) => {
    ctx.logger.info(`downscaling ${loaded.files} files to ${ctx.parameters.grid_km} km`)
    await works(2_400 / ctx.parameters.grid_km, ctx.signal)
    return { cells: Math.round(9_000_000 / ctx.parameters.grid_km ** 2) }
  })
  .step('simulate', async ({ cells }, ctx) => {
    const { members, horizon_years } = ctx.parameters
    const indexes = Array.from({ length: members }, (_, index) => index)
    let done = 0
    ctx.progress({ done, of: members })
    const warmings = await ctx.map('member', indexes, async (index, inside) => {
      await works(60 + horizon_years * (1 + (index % 3) * 0.4), inside.signal)
      done += 1
      ctx.progress({ done, of: members })
      ctx.cost(done * horizon_years * 0.037)
      inside.logger.info(`member ${index + 1} of ${members}: ${cells} cells, ${horizon_years} years`)
      return rounded(1.1 + index * 0.07 + horizon_years * 0.021)
    })
    return { cells, warmings }
  })
  .step('summarise', async ({ cells, warmings }, ctx) => {
    await works(20, ctx.signal)
    const sorted = warmings.toSorted((a, b) => a - b)
    return {
      region: ctx.parameters.region,
      scenario: ctx.parameters.scenario,
      warming_celsius: { median: sorted[Math.floor(sorted.length / 2)], low: sorted[0], high: sorted.at(-1) },
      precipitation_change_percent: rounded(-2.5 + (ctx.seed % 9)),
      cells,
      members: warmings.length,
    }
  })

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
