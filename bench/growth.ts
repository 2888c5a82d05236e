/**
 * What full tables do to a drain of Holdfast: with many other runs waiting behind those that are drained, and with
 * many finished runs in history, each beside a drain of the same round on empty tables.
 */

import { type Bench, inRounds, type Measured } from './bench.ts'
import { submitRuns } from './bulk.ts'
import type { Place } from './contender.ts'
import { drainedPerSecond } from './drain.ts'
import { fillFinished, fillPending } from './fill-runs.ts'

export const PLAIN = 'empty tables'

export async function measureGrowth(bench: Bench): Promise<Measured[]> {
  const { server, options, progress } = bench
  const contender = bench.contenders.find(({ name }) => name === 'holdfast')!
  const pending = {
    name: `${options.pendingRuns.toLocaleString('en-US')} pending`,
    fill: fillPending,
    count: options.pendingRuns,
  }
  const finished = {
    name: `${options.finishedRuns.toLocaleString('en-US')} finished`,
    fill: fillFinished,
    count: options.finishedRuns,
  }
  const places = new Map<string, Place>()
  for (const [label, { name, fill, count }] of Object.entries({ pending, finished })) {
    progress(`growth · filling tables: ${name}`)
    const place = await server.fresh(contender, label)
    places.set(name, place)
    await fill(place, count)
    await server.rest(place)
  }
  const states = [{ name: PLAIN }, { name: pending.name }, { name: finished.name }]
  const series = await inRounds(bench, 'drain of holdfast', states, async ({ name }) => {
    const place = places.get(name) ?? (await server.fresh(contender))
    // As many come as go, so that a table keeps its size from round to round.
    await submitRuns(bench, contender, place, options.runs)
    await server.rest(place)
    return drainedPerSecond(contender, place, options.runs, 'done')
  })
  for (const place of places.values()) await server.drop(place)
  const title = `drain of ${options.runs.toLocaleString('en-US')} runs by holdfast, tables as stated`
  return [{ id: 'growth', title, unit: 'runs/s', series }]
}
