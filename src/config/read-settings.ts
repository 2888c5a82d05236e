/**
 * Reads every setting of the table from an environment and gathers all problems, so that one start shows everything
 * to mend.
 */

import { closest } from 'fastest-levenshtein'
import { ALL_SETTINGS, SETTINGS, type Setting, type SettingValues } from './settings.ts'

export type ConfigProblem = { name: string; problem: string }

export class ConfigInvalid extends Error {
  readonly problems: readonly ConfigProblem[]
  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ name, problem }) => `  ${name} ${problem}`)
    super(`The configuration cannot be used:\n${lines.join('\n')}\nAll settings are explained in docs/config.md.`)
    this.name = 'ConfigInvalid'
    this.problems = problems
  }
}

const PREFIX = 'HOLDFAST_'
/** For the tests of this repository; the service does not look at them. */
const TEST_PREFIX = 'HOLDFAST_TEST_'

export function readSettings(env: NodeJS.ProcessEnv): { values: SettingValues; problems: ConfigProblem[] } {
  const problems = unknownNames(env)
  const read = (setting: Setting): unknown => {
    // An empty variable counts as unset, as in `REDIS_URL=` of a compose file.
    const text = env[setting.env]?.trim() || setting.default
    if (text === null) return null
    const result = setting.kind.safeParse(text)
    if (result.success) return result.data
    problems.push({ name: setting.env, problem: result.error.issues[0]?.message ?? 'is not valid' })
    return null
  }
  const values = mapValues(SETTINGS, (rows) => mapValues(rows as Record<string, Setting>, read))
  return { values: values as SettingValues, problems }
}

function unknownNames(env: NodeJS.ProcessEnv): ConfigProblem[] {
  const known = ALL_SETTINGS.map((setting) => setting.env)
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && !known.includes(name))
    .map((name) => ({ name, problem: `is not a setting; did you mean ${closest(name, known)}?` }))
}

function mapValues<T, R>(record: Record<string, T>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
