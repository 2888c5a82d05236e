/** What may be said of a step beside its work: how often it is tried again where it stands, after what, and how long one try may take. */

import { namesClass, RETRY_DELAY_SECONDS_MAX } from '../run/retry.ts'

export type StepBackoff = {
  /** Before the first repeat; 0.2 when not given. */
  baseDelaySeconds?: number
  /** From one repeat to the next; 4 when not given. */
  factor?: number
  /** 10 when not given. */
  maxDelaySeconds?: number
  /** 0 to 1: the part of a delay that is random; 0.1 when not given. */
  jitter?: number
}

export type StepOptions = {
  /** Repeats after the first try; 3 when not given. */
  retries?: number
  backoff?: StepBackoff
  /** Error classes that are tried again; all when not given. */
  retryOn?: string[]
  noRetryOn?: string[]
  /** Of one try. Its signal fires then; what does not listen goes on and is not waited for. */
  timeoutSeconds?: number
}

export type MapOptions = StepOptions & {
  /** Items at once; 4 when not given. */
  concurrency?: number
}

export type StepPolicy = Required<Omit<StepOptions, 'backoff' | 'retryOn' | 'timeoutSeconds'>> & {
  backoff: Required<StepBackoff>
  retryOn: string[] | null
  timeoutSeconds: number | null
}

export const CONCURRENCY_DEFAULT = 4
const BACKOFF: Required<StepBackoff> = { baseDelaySeconds: 0.2, factor: 4, maxDelaySeconds: 10, jitter: 0.1 }
const RETRIES_DEFAULT = 3
const RETRIES_MAX = 1_000

/** Of options without problems. */
export function stepPolicyOf(options: StepOptions = {}): StepPolicy {
  const { retries = RETRIES_DEFAULT, backoff = {}, retryOn = null, noRetryOn = [], timeoutSeconds = null } = options
  const given = Object.fromEntries(Object.entries(backoff).filter(([, value]) => value !== undefined))
  return { retries, backoff: { ...BACKOFF, ...given }, retryOn, noRetryOn, timeoutSeconds }
}

/** Before the repeat that follows so many tries; `random` is uniform in [0, 1). */
export function stepDelaySeconds({ backoff }: StepPolicy, tries: number, random: number): number {
  const { baseDelaySeconds, factor, maxDelaySeconds, jitter } = backoff
  const delay = baseDelaySeconds === 0 ? 0 : Math.min(baseDelaySeconds * factor ** (tries - 1), maxDelaySeconds)
  return delay * (1 - jitter * random)
}

export function isTriedAgain({ retries, retryOn, noRetryOn }: StepPolicy, tries: number, errorClass: string): boolean {
  const isNamed = (names: string[]) => names.some((name) => namesClass(name, errorClass))
  return tries <= retries && !isNamed(noRetryOn) && (retryOn === null || isNamed(retryOn))
}

type Rule = { holds: (value: unknown) => boolean; wanted: string }

const number = (least: number, most: number, wanted = `a number from ${least} to ${most}`): Rule => ({
  holds: (value) => typeof value === 'number' && value >= least && value <= most,
  wanted,
})
const whole = (least: number, most: number): Rule => ({
  holds: (value) => Number.isInteger(value) && number(least, most).holds(value),
  wanted: `a whole number from ${least} to ${most}`,
})
const classes: Rule = {
  holds: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== ''),
  wanted: 'a list of error class names',
}
const seconds = number(0, RETRY_DELAY_SECONDS_MAX, 'seconds of 0 or more')

const OPTION_RULES: Record<string, Rule> = {
  retries: whole(0, RETRIES_MAX),
  backoff: { holds: (value) => typeof value === 'object' && value !== null, wanted: 'an object' },
  retryOn: classes,
  noRetryOn: classes,
  timeoutSeconds: number(0.001, RETRY_DELAY_SECONDS_MAX, 'seconds above 0'),
}
const MAP_RULES = { ...OPTION_RULES, concurrency: whole(1, 1_000) }
const BACKOFF_RULES: Record<string, Rule> = {
  baseDelaySeconds: seconds,
  factor: number(1, 1_000),
  maxDelaySeconds: seconds,
  jitter: number(0, 1),
}

/** One sentence each; none when the options are good. */
export function stepOptionProblems(options: unknown, isMap = false): string[] {
  if (options === undefined) return []
  if (typeof options !== 'object' || options === null) return ['its options must be an object']
  const problems = problemsOf(options, isMap ? MAP_RULES : OPTION_RULES)
  const { backoff } = options as StepOptions
  if (typeof backoff === 'object' && backoff !== null) problems.push(...problemsOf(backoff, BACKOFF_RULES))
  return problems
}

function problemsOf(given: object, rules: Record<string, Rule>): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (!rule) return [`there is no option ${name}; known are ${Object.keys(rules).join(', ')}`]
    return value === undefined || rule.holds(value) ? [] : [`${name} must be ${rule.wanted}`]
  })
}
