/** Every filter of the list of runs, with values that few runs have, that many have and that none has; and all pairs of them. */

export const FREQUENCIES = ['rare', 'common', 'absent'] as const

export type Frequency = (typeof FREQUENCIES)[number]
/** What is asked, and the query that asks it. */
export type Asked = { names: string[]; frequencies: Frequency[]; query: string }

type Filter = { name: string } & Record<Frequency, string>

const BATCH = (no: number) => `00000000-0000-4000-8000-${String(no).padStart(12, '0')}`
const FUTURE = 'created_after=2999-01-01T00:00:00Z'

const NAMED: Record<string, Record<Frequency, string>> = {
  status: { rare: 'CANCELLED', common: 'SUCCEEDED', absent: '' },
  model: { rare: 'rare-model', common: 'model-1', absent: 'nothing' },
  model_version: { rare: '2', common: '1', absent: '3' },
  owner: { rare: 'rare-owner', common: 'owner-big', absent: 'nobody' },
  queue: { rare: 'rare-queue', common: 'queue-other', absent: 'none' },
  tag: { rare: 'rare-tag', common: 'common-tag', absent: 'no-tag' },
  batch_id: { rare: BATCH(7), common: BATCH(1), absent: BATCH(3) },
  error_class: { rare: 'RareError', common: 'Timeout', absent: 'NoError' },
  text: { rare: 'rare title', common: 'nightly', absent: 'zzz' },
}

/** `someTime` has few runs in the hour that follows it. */
export function filtersOf(someTime: Date): Filter[] {
  const named = Object.entries(NAMED).flatMap(([name, values]) =>
    ['', 'not_'].map((prefix) => ({ name: prefix + name, ...queriesOf(prefix + name, values) })),
  )
  const end = new Date(someTime.getTime() + 3600_000)
  const time = {
    name: 'created',
    rare: `created_after=${someTime.toISOString()}&created_before=${end.toISOString()}`,
    common: 'created_after=2000-01-01T00:00:00Z',
    absent: FUTURE,
  }
  return [...named, time]
}

/** No status is absent: the queries of those are left out. */
function queriesOf(name: string, values: Record<Frequency, string>): Record<Frequency, string> {
  const query = (value: string) => (value === '' ? '' : `${name}=${encodeURIComponent(value)}`)
  return { rare: query(values.rare), common: query(values.common), absent: query(values.absent) }
}

export function alone(filters: Filter[]): Asked[] {
  return filters.flatMap((filter) =>
    FREQUENCIES.filter((frequency) => filter[frequency] !== '').map((frequency) => ({
      names: [filter.name],
      frequencies: [frequency],
      query: filter[frequency],
    })),
  )
}

export function pairs(filters: Filter[]): Asked[] {
  const single = alone(filters)
  return single.flatMap((one, no) =>
    single.slice(no + 1).flatMap((other) =>
      one.names[0] === other.names[0]
        ? []
        : {
            names: [...one.names, ...other.names],
            frequencies: [...one.frequencies, ...other.frequencies],
            query: `${one.query}&${other.query}`,
          },
    ),
  )
}
