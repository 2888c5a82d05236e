/** Demo: the tours of a day from one depot, with the stops as places. */

import { z } from 'zod'
import { Fatal, model } from '../../../src/model/model.ts'
import { withStack, works } from '../pace.ts'

class Infeasible extends Fatal {
  override readonly name = 'Infeasible'
}

const DEPOTS: Record<string, { latitude: number; longitude: number }> = {
  Lyon: { latitude: 45.764, longitude: 4.8357 },
  Rotterdam: { latitude: 51.9244, longitude: 4.4777 },
  Bologna: { latitude: 44.4949, longitude: 11.3426 },
  Porto: { latitude: 41.1579, longitude: -8.6291 },
}

export const routeOptimisation = model({
  name: 'route_optimisation',
  version: '1.3',
  description: 'Plans the tours of a day: geocodes stops, measures distances, solves, publishes to drivers.',
  queue: 'logistics',
  executor: 'inline',
  expectedSeconds: 180,
  retry: { maxAttempts: 3, delaysSeconds: [5, 20] },
  places: 'stops',
  runsPerKey: { key: '/depot', limit: 3 },
  parameters: z.strictObject({
    depot: z.enum(['Lyon', 'Rotterdam', 'Bologna', 'Porto']),
    day: z.iso.date(),
    stops: z.int().min(2).max(500).default(60),
    vehicles: z.int().min(1).max(80).default(6),
    max_hours: z.number().min(1).max(13).default(9).describe('Working hours of a driver'),
    avoid_tolls: z.boolean().default(false),
  }),
})
  .step('geocode', async ({ depot, stops }, ctx) => {
    await works(stops / 4, ctx.signal)
    ctx.logger.info(`${stops} addresses found, ${stops % 4} of them by their neighbours`)
    const { latitude, longitude } = DEPOTS[depot]!
    return Array.from({ length: Math.min(stops, 40) }, (_, index) => ({
      label: `${depot} stop ${index + 1}`,
      latitude: latitude + Math.sin(index * 1.7) * 0.12,
      longitude: longitude + Math.cos(index * 2.3) * 0.16,
    }))
  })
  .step('distances', async (places, ctx) => {
    await works(places.length / 2, ctx.signal)
    return places
  })
  .step('solve', async (places, ctx) => {
    const { stops, vehicles, max_hours } = ctx.parameters
    const rounds = 10
    for (let round = 1; round <= rounds; round += 1) {
      await works(stops / 8, ctx.signal)
      ctx.progress({ done: round, of: rounds, gap_percent: Math.round(240 / round) / 10 })
      ctx.logger.info(`round ${round}: gap ${Math.round(240 / round) / 10} %`)
    }
    if (stops / vehicles > max_hours * 3) throw infeasible(stops, vehicles, max_hours)
    return { places, kilometres: Math.round(stops * 11.4 + vehicles * 23) }
  })
  .step('publish', async ({ places, kilometres }, ctx) => {
    await works(8, ctx.signal)
    const { vehicles } = ctx.parameters
    return { tours: vehicles, kilometres, hours: Math.round(kilometres / 42), stops: places }
  })

function infeasible(stops: number, vehicles: number, hours: number): Error {
  return withStack(
    new Infeasible(
      `${stops} stops do not fit into ${vehicles} tours of ${hours} hours; at least ${Math.ceil(stops / (hours * 3))} vehicles are needed`,
    ),
    'assertFeasible (/srv/models/routes/bounds.ts:29:9)',
    'solve (/srv/models/routes/solve.ts:88:5)',
  )
}
