/** What a day of a company looks like: who asks for which run, when. Pure; the same seed gives the same day. */

import { type Chance, chanceOf } from './seeded.ts'

export type DemoRequest = {
  atMs: number
  owner: string
  model: string
  parameters: Record<string, unknown>
  title: string
  tags: string[]
  /** What its owner does with it afterwards. */
  afterwards?: 'cancel' | 'retry'
}

type Asked = Omit<DemoRequest, 'atMs'>

const HOUR_MS = 3_600_000
const REGIONS = ['Andalusia', 'Bavaria', 'Brittany', 'Lombardy', 'Mekong Delta', 'Rhône basin', 'Skåne', 'Transylvania']
const LINES = ['Espresso machines', 'Filters', 'Grinders', 'Kettles', 'Spare parts', 'Subscriptions']

/** From the first moment up to the last, in their order. */
export function dayOfRequests(fromMs: number, toMs: number, seed = 8): DemoRequest[] {
  const chance = chanceOf(seed)
  const requests: DemoRequest[] = []
  for (let atMs = fromMs; atMs < toMs; ) {
    requests.push({ atMs, ...oneRequest(chance, atMs) })
    atMs += (HOUR_MS / perHour(atMs)) * (0.3 + 1.4 * chance.next())
  }
  return requests
}

/** Few at night, most before and after lunch. */
export function perHour(atMs: number): number {
  const hour = (atMs / HOUR_MS) % 24
  const office = Math.exp(-((hour - 10.5) ** 2) / 7) + 0.9 * Math.exp(-((hour - 15) ** 2) / 6)
  return 9 + 46 * office
}

function oneRequest(chance: Chance, atMs: number): Asked {
  const kind = chance.next()
  const afterwards = chance.next() < 0.03 ? ('cancel' as const) : undefined
  if (kind < 0.52) return pricing(chance)
  if (kind < 0.66) return churn(chance, atMs)
  if (kind < 0.82) return { ...routes(chance, atMs), afterwards }
  if (kind < 0.94) return { ...climate(chance), afterwards }
  return report(chance, atMs)
}

export function pricing(chance: Chance): Asked {
  const line = chance.pick(LINES)
  const change = chance.whole(-12, 12)
  return {
    owner: chance.pick(['finance', 'finance', 'ana.ruiz']),
    model: 'pricing_scenario',
    parameters: { product_line: line, price_change_percent: change, weeks: chance.pick([4, 13, 26, 52]) },
    title: `${line} at ${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change)} %`,
    tags: [`line:${line.toLowerCase().replaceAll(' ', '-')}`, chance.pick(['plan-2027', 'what-if'])],
  }
}

export function churn(chance: Chance, atMs: number): Asked {
  const months = [1, 2, 3, 4].map((ago) => monthBefore(atMs, ago))
  const isBroken = chance.next() < 0.16
  const month = chance.pick(months.filter((one) => isBrokenMonth(one) === isBroken))
  const rate = chance.pick([0.05, 0.08, 0.1, 0.2])
  const depth = chance.pick([4, 6, 6, 8, 12])
  return {
    owner: chance.pick(['ml-platform', 'ml-platform', 'ana.ruiz']),
    model: 'churn_training',
    parameters: {
      dataset: `crm/${month}`,
      learning_rate: rate,
      max_depth: depth,
      trees: chance.pick([200, 400, 800]),
      warehouse_password: 'not-a-real-one',
    },
    title: `Churn ${month}, depth ${depth}, rate ${rate}`,
    tags: ['churn', `month:${month}`],
    afterwards: isBroken && chance.next() < 0.4 ? 'retry' : undefined,
  }
}

export function routes(chance: Chance, atMs: number): Asked {
  const depot = chance.pick(['Lyon', 'Rotterdam', 'Bologna', 'Porto'])
  const day = dayOf(atMs + 24 * HOUR_MS)
  const stops = chance.whole(40, 180)
  return {
    owner: 'logistics',
    model: 'route_optimisation',
    parameters: { depot, day, stops, vehicles: chance.whole(5, 14), avoid_tolls: chance.next() < 0.3 },
    title: `Tours of ${depot}, ${day}`,
    tags: [`depot:${depot.toLowerCase()}`, `stops:${Math.round(stops / 50) * 50}`],
  }
}

export function climate(chance: Chance): Asked {
  const region = chance.pick(REGIONS)
  const scenario = chance.pick(['SSP1-2.6', 'SSP2-4.5', 'SSP5-8.5'])
  return {
    owner: chance.pick(['forecasting', 'forecasting', 'ana.ruiz']),
    model: 'climate_forecast',
    parameters: { region, scenario, members: chance.pick([4, 6, 8, 12]), horizon_years: chance.pick([10, 20, 30]) },
    title: `${region}, ${scenario}`,
    tags: [`scenario:${scenario.toLowerCase()}`, chance.pick(['ipcc', 'insurance', 'agriculture'])],
  }
}

export function report(chance: Chance, atMs: number): Asked {
  const team = chance.pick(['finance', 'sales', 'operations', 'board'])
  const day = dayOf(atMs - 24 * HOUR_MS)
  return {
    owner: 'reporting',
    model: 'nightly_report',
    parameters: { day, team, recipients: [`${team}@example.com`] },
    title: `Report of ${team}, ${day}`,
    tags: [`team:${team}`],
  }
}

/** `2026-03`, as it was so many months before. */
export function monthBefore(atMs: number, months: number): string {
  const date = new Date(atMs)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1)).toISOString().slice(0, 7)
}

/** One in four: the data of that month lack a column. */
export function isBrokenMonth(month: string): boolean {
  return Number(month.slice(-2)) % 4 === 2
}

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}
