/**
 * `holdfast quota`: reads and sets the limits of owners and models straight on the database, as `holdfast token` does for tokens. Whoever can
 * reach the database may do so; each change is in the audit.
 */

import type { Command } from 'commander'
import { presentQuota, presentRule } from '../../api/present-quota.ts'
import { limitsOf } from '../../api/routes/quotas.ts'
import { QuotaBody, type QuotaObject, QuotaParams, QuotaQuery, type QuotaRuleObject } from '../../contract/quota.ts'
import { ALL_MODELS, EVERYONE, LIMITS, type LimitName, type QuotaName, ruleTitle } from '../../run/quota.ts'
import type { QuotaDrift } from '../../store/ports/quotas.ts'
import type { Store } from '../../store/store.ts'
import { ACTOR } from '../actor.ts'
import { isSure } from '../are-you-sure.ts'
import { withStore } from '../database.ts'
import { table } from '../table.ts'

const PAGE = 200
/** Of `check`, when it found runs that are not counted. */
const EXIT_DRIFT = 3

type WhichOptions = { model?: string; together?: boolean; json?: boolean }
type SetOptions = WhichOptions & Partial<Record<(typeof SET_OPTIONS)[LimitName] | 'action', string>>

/** How commander calls the option of a limit. */
const SET_OPTIONS = {
  max_concurrent: 'maxConcurrent',
  runs_per_hour: 'runsPerHour',
  runs_per_day: 'runsPerDay',
  cost_per_day: 'costPerDay',
  cost_per_month: 'costPerMonth',
} as const satisfies Record<LimitName, string>

export function addQuota(program: Command): void {
  const quota = program.command('quota').description('read and set quotas, straight on the database')
  const about = (command: Command) =>
    command
      .option('--model <name>', 'the rule for runs of one model')
      .option('--together', 'of *: all owners are counted as one')
      .option('--json', 'print JSON')
  quota
    .command('list')
    .description('show all rules')
    .option('--owner <name>', 'only those of one owner')
    .option('--json', 'print JSON')
    .action(list)
  about(quota.command('get <owner>').description('show a rule and how much of each limit is used')).action(get)
  about(quota.command('set <owner>').description('make or replace a rule; * stands for everyone'))
    .option('--max-concurrent <n>', 'runs that have not ended, and reservations')
    .option('--runs-per-hour <n>', 'runs created within an hour')
    .option('--runs-per-day <n>', 'runs created within 24 hours')
    .option('--cost-per-day <amount>', 'cost of runs of a day in UTC')
    .option('--cost-per-month <amount>', 'cost of runs of a month in UTC')
    .option('--action <action>', 'what happens above a limit: block, warn or require_approval', 'block')
    .action(set)
  about(quota.command('delete <owner>').description('delete a rule')).option('--yes', 'do not ask').action(remove)
  quota
    .command('check')
    .description(`recompute what is used from the runs themselves; ends with ${EXIT_DRIFT} when it differs`)
    .option('--json', 'print JSON')
    .action(check)
}

async function list(options: { owner?: string; json?: boolean }): Promise<void> {
  await withStore(async (store) => {
    const rules = await allRules(store, options.owner ?? null)
    if (options.json) return print(JSON.stringify(rules))
    if (rules.length === 0) return print('There are no quotas. "holdfast quota set" makes one.')
    print(table([['OWNER', 'MODEL', 'TOGETHER', ...LIMITS.map(heading), 'ACTION'], ...rules.map(rowOf)]))
  })
}

async function allRules(store: Store, owner: string | null): Promise<QuotaRuleObject[]> {
  const rules: QuotaRuleObject[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<Store['quotas']['list']>> = await store.quotas.list({ owner, limit: PAGE, cursor })
    rules.push(...page.rules.map(presentRule))
    cursor = page.nextCursor
  } while (cursor !== null)
  return rules
}

function rowOf(rule: QuotaRuleObject): string[] {
  const limits = LIMITS.map((limit) => String(rule[limit] ?? '-'))
  return [rule.owner, rule.model ?? '-', rule.together ? 'yes' : '-', ...limits, rule.action]
}

function heading(limit: LimitName): string {
  return limit.replaceAll('_', ' ').toUpperCase()
}

async function get(owner: string, options: WhichOptions): Promise<void> {
  const name = nameOf(owner, options)
  await withStore(async ({ quotas }) => {
    const rule = await quotas.get(name)
    if (name.owner === EVERYONE && !rule) throw noSuchRule(name)
    const usage = name.owner !== EVERYONE || name.together ? await quotas.usage(name) : []
    const shown = presentQuota(name, rule, usage)
    if (options.json) return print(JSON.stringify(shown))
    print(`${ruleTitle(name)}: ${rule ? `a rule, ${rule.action}` : 'no rule of its own'}`)
    print(usageTable(shown))
  })
}

function usageTable({ usage }: QuotaObject): string {
  if (usage.length === 0) return 'No limit applies.'
  const rows = usage.map(({ rule, limit, used, maximum, sources, action, binds }) => [
    heading(limit).toLowerCase(),
    `${used} of ${maximum}`,
    Object.entries(sources)
      .flatMap(([source, value]) => (value === null ? [] : `${source} ${value}`))
      .join(', '),
    ruleTitle({ ...rule, model: rule.model ?? ALL_MODELS }),
    action,
    binds ? 'binds' : '',
  ])
  return table([['LIMIT', 'USED', 'BY', 'RULE OF', 'ACTION', ''], ...rows])
}

async function set(owner: string, options: SetOptions): Promise<void> {
  const name = nameOf(owner, options)
  const parsed = QuotaBody.safeParse({
    ...Object.fromEntries(LIMITS.map((limit) => [limit, numberOf(limit, options[SET_OPTIONS[limit]])])),
    action: options.action,
  })
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(`--${String(issue?.path[0]).replaceAll('_', '-')} ${issue?.message}`)
  }
  const [limits, action] = [limitsOf(parsed.data), parsed.data.action ?? 'block']
  await withStore(async ({ quotas }) => {
    const rule = presentRule(await quotas.put(name, limits, action, ACTOR))
    if (options.json) return print(JSON.stringify(rule))
    print(`Set the quota of ${ruleTitle(name)}: ${limitsText(rule)}.`)
    if (rule.counted_at === null) print('Runs of before it do not count yet; a worker or an API process sees to that.')
  })
}

/** A rule without limits exempts its owner from the one of everyone, which nobody should do by leaving something out. */
function limitsText(rule: QuotaRuleObject): string {
  const given = LIMITS.filter((limit) => rule[limit] !== null)
  if (given.length === 0) return 'no limits'
  const texts = given.map((limit) => `${heading(limit).toLowerCase()} ${rule[limit]}`)
  return `${texts.join(', ')}; ${rule.action.replaceAll('_', ' ')}`
}

function numberOf(limit: LimitName, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new Error(`--${limit.replaceAll('_', '-')} must be a number, not ${JSON.stringify(text)}`)
}

async function remove(owner: string, options: WhichOptions & { yes?: boolean }): Promise<void> {
  const name = nameOf(owner, options)
  const question = `Delete the quota of ${ruleTitle(name)}?`
  if (!options.yes && !(await isSure(question, 'add --yes to delete a quota without being asked'))) {
    throw new Error('nothing was deleted')
  }
  await withStore(async ({ quotas }) => {
    if (!(await quotas.delete(name, ACTOR))) throw noSuchRule(name)
    print(options.json ? JSON.stringify({ deleted: ruleTitle(name) }) : `Deleted the quota of ${ruleTitle(name)}.`)
  })
}

async function check(options: { json?: boolean }): Promise<void> {
  await withStore(async ({ quotas }) => {
    const drift = await quotas.check()
    print(options.json ? JSON.stringify(drift.map(driftObject)) : driftText(drift))
    if (drift.length > 0) process.exitCode = EXIT_DRIFT
  })
}

function driftObject({ owner, model, counted, live, runIds }: QuotaDrift): object {
  return { owner, model: model === ALL_MODELS ? null : model, counted, live, run_ids: runIds }
}

function driftText(drift: QuotaDrift[]): string {
  if (drift.length === 0) return 'What is counted is what there is.'
  const rows = drift.map(({ owner, model, counted, live, runIds }) => [
    owner,
    model || '-',
    String(counted),
    String(live),
    runIds.join(' '),
  ])
  return table([['OWNER', 'MODEL', 'COUNTED', 'LIVE', 'NOT COUNTED'], ...rows])
}

function nameOf(owner: string, { model, together = false }: WhichOptions): QuotaName {
  if (!QuotaParams.safeParse({ owner }).success) throw new Error('an owner has 1 to 255 printable ASCII characters')
  const query = QuotaQuery.safeParse({ model })
  if (!query.success) throw new Error(`--model ${query.error.issues[0]?.message}`)
  if (together && owner !== EVERYONE) throw new Error('--together is for the owner * only')
  return { owner, model: model ?? ALL_MODELS, together }
}

function noSuchRule(name: QuotaName): Error {
  return new Error(`there is no quota of ${ruleTitle(name)}; "holdfast quota list" shows them`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
