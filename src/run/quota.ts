/**
 * Quotas: which rules apply to a run, and what they say about it. Pure; who counts what is used is the store's business.
 *
 * A rule is about an owner or about everyone (`*`), about one model or about all (''). A rule about everyone counts each owner by itself, or,
 * with `together`, all owners as one. Of the rules that count the same thing the most specific one applies; those that apply must all hold, so
 * the smallest room decides.
 */

export const EVERYONE = '*'
export const ALL_MODELS = ''

export const RUN_LIMITS = ['max_concurrent', 'runs_per_hour', 'runs_per_day'] as const
export const COST_LIMITS = ['cost_per_day', 'cost_per_month'] as const

export type RunLimit = (typeof RUN_LIMITS)[number]
export type CostLimit = (typeof COST_LIMITS)[number]
export type LimitName = RunLimit | CostLimit

export const LIMITS: readonly LimitName[] = [...RUN_LIMITS, ...COST_LIMITS]

/** What becomes of a run that is over a limit: refused, accepted and told so, or kept waiting until somebody approves it. */
export type QuotaAction = 'block' | 'warn' | 'require_approval'

/** What a rule is found by. */
export type QuotaName = {
  /** `*` for everyone. */
  owner: string
  /** '' for all models. */
  model: string
  together: boolean
}

/** Null for no limit. */
export type QuotaLimits = Record<LimitName, number | null>

export type QuotaRule = QuotaName & { limits: QuotaLimits; action: QuotaAction }

/** Whose runs a rule counts, for one run: null for those of all owners, of all models. */
export type Counted = { owner: string | null; model: string | null }

export type AppliedRule = { rule: QuotaRule; counted: Counted }

/** How much is used already; a limit that is not in it is not judged. */
export type Usage = Partial<Record<LimitName, number>>

/** How much one more run takes of each limit. */
export type Wanted = Partial<Record<LimitName, number>>

export type QuotaWarning = { rule: QuotaName; limit: LimitName; maximum: number; used: number; action: QuotaAction }

/** `used` does not count the run that is judged; in a warning it does. */
export type Binding = { rule: QuotaRule; counted: Counted; limit: LimitName; maximum: number; used: number }

export type Decision =
  | { kind: 'admit'; warnings: QuotaWarning[] }
  /** Over a limit whose rule asks for approval. */
  | { kind: 'approve'; binding: Binding; warnings: QuotaWarning[] }
  | { kind: 'refuse'; binding: Binding }

/** From this part of a limit on, success carries a warning. */
export const WARN_FROM = 0.8

/** Sums of amounts are compared with this much room, so that 0.1 + 0.2 fits into 0.3. */
const TINY = 1e-9

/** The rules that apply to a run, at most four: its owner over all models and within its model, everyone together likewise. */
export function rulesThatApply(rules: readonly QuotaRule[], run: { owner: string; model: string }): AppliedRule[] {
  const byName = indexOf(rules)
  const find = (owner: string, model: string, together: boolean) => byName.get(ruleName({ owner, model, together }))
  const models = run.model === ALL_MODELS ? [ALL_MODELS] : [ALL_MODELS, run.model]
  return models.flatMap((model) => {
    const counted = model === ALL_MODELS ? null : model
    const each = find(run.owner, model, false) ?? find(EVERYONE, model, false)
    const all = find(EVERYONE, model, true)
    return [
      ...(each ? [{ rule: each, counted: { owner: run.owner, model: counted } }] : []),
      ...(all ? [{ rule: all, counted: { owner: null, model: counted } }] : []),
    ]
  })
}

/** The rules of a batch are asked about once for each of its runs. */
const indexes = new WeakMap<readonly QuotaRule[], Map<string, QuotaRule>>()

function indexOf(rules: readonly QuotaRule[]): Map<string, QuotaRule> {
  let index = indexes.get(rules)
  if (!index) {
    index = new Map(rules.map((rule) => [ruleName(rule), rule]))
    indexes.set(rules, index)
  }
  return index
}

function ruleName({ owner, model, together }: QuotaName): string {
  return `${together ? 'all' : 'each'} ${model.length} ${model} ${owner}`
}

/** One text for everybody who counts the same. */
export function countedName({ owner, model }: Counted): string {
  return JSON.stringify([owner, model])
}

/** As people call a rule. */
export function ruleTitle({ owner, model, together }: QuotaName): string {
  return `${owner}${model === ALL_MODELS ? '' : ` model ${model}`}${together ? ' together' : ''}`
}

/** What all rules that apply say together. Of those that bind, the one with the least room is named. */
export function decide(applied: readonly (AppliedRule & { usage: Usage })[], wanted: Wanted): Decision {
  const warnings: QuotaWarning[] = []
  let refusing: Binding | null = null
  let approving: Binding | null = null
  for (const { rule, counted, usage } of applied) {
    for (const limit of LIMITS) {
      const maximum = rule.limits[limit]
      const used = usage[limit]
      const more = wanted[limit]
      if (maximum === null || used === undefined || more === undefined) continue
      const isOver = used + more > maximum + TINY
      const binding = { rule, counted, limit, maximum, used }
      if (isOver && rule.action === 'block') refusing = tighter(refusing, binding)
      else if (isOver && rule.action === 'require_approval') approving = tighter(approving, binding)
      if (used + more >= WARN_FROM * maximum - TINY) {
        const { owner, model, together, action } = rule
        warnings.push({ rule: { owner, model, together }, limit, maximum, used: used + more, action })
      }
    }
  }
  if (refusing) return { kind: 'refuse', binding: refusing }
  return approving ? { kind: 'approve', binding: approving, warnings } : { kind: 'admit', warnings }
}

/** Limits of different kinds cannot be compared: the first one found is named then. */
function tighter(known: Binding | null, found: Binding): Binding {
  if (!known) return found
  const isTighter = known.limit === found.limit && found.maximum - found.used < known.maximum - known.used
  return isTighter ? found : known
}

const LIMIT_TEXTS: Record<LimitName, (maximum: number) => string> = {
  max_concurrent: (maximum) => `Quota exceeded: Maximum ${maximum} concurrent runs allowed`,
  runs_per_hour: (maximum) => `Quota exceeded: Maximum ${maximum} runs per hour allowed`,
  runs_per_day: (maximum) => `Quota exceeded: Maximum ${maximum} runs per day allowed`,
  cost_per_day: (maximum) => `Cost limit exceeded: Maximum ${maximum} per day allowed`,
  cost_per_month: (maximum) => `Cost limit exceeded: Maximum ${maximum} per month allowed`,
}

/** What the refused one is told. */
export function refusalText({ limit, maximum }: { limit: LimitName; maximum: number }): string {
  return LIMIT_TEXTS[limit](maximum)
}

export function isCostLimit(limit: LimitName): limit is CostLimit {
  return (COST_LIMITS as readonly string[]).includes(limit)
}
