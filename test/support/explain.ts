/**
 * A pool that explains every statement before it runs it: the plan, what was read and which triggers fired, measured inside a
 * transaction that is rolled back. The verbs of the store run on it unchanged, so what is explained is what they send.
 */

import pg from 'pg'
import { ask } from '../../src/store/ask.ts'
import { type ConnectOptions, openClient } from '../../src/store/connect.ts'

export type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'CTE Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanNode[]
}

export type Explained = {
  text: string
  mode: string
  nodes: PlanNode[]
  /** Blocks looked at, each as often as it was. */
  blocks: number
  triggers: string[]
}

export type ExplainingPool = pg.Pool & { take(): Explained[]; close(): Promise<void> }

type Asked = { text: string; values?: unknown[] }

type Output = { Plan: PlanNode; Triggers: { 'Trigger Name': string; 'Constraint Name'?: string }[] }

/** On the connections of hot statements plans are generic; elsewhere Postgres chooses, so both kinds are explained. */
export async function openExplainingPool(options: ConnectOptions): Promise<ExplainingPool> {
  const client = await openClient({ statementTimeoutMs: 120_000, ...options })
  const modes = options.pinPlans ? ['force_generic_plan'] : ['force_generic_plan', 'force_custom_plan']
  let explained: Explained[] = []
  let turn: Promise<unknown> = Promise.resolve()

  async function explain(text: string, values: unknown[], mode: string): Promise<Explained> {
    const list = values.map(literal).join(', ')
    await client.query(`BEGIN; SET LOCAL plan_cache_mode = ${mode}; PREPARE explained AS ${text}`)
    const execute = values.length > 0 ? `EXECUTE explained(${list})` : 'EXECUTE explained'
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${execute}`)
    await client.query('ROLLBACK; DEALLOCATE explained')
    const [{ Plan, Triggers }] = rows[0]['QUERY PLAN'] as [Output]
    const triggers = Triggers.map((trigger) => trigger['Constraint Name'] ?? trigger['Trigger Name'])
    return { text, mode, nodes: nodesOf(Plan), blocks: blocksOf(Plan), triggers }
  }

  async function query(config: string | Asked, given?: unknown[]) {
    const { text, values: own }: Asked = typeof config === 'string' ? { text: config } : config
    const values = given ?? own ?? []
    for (const mode of modes) explained.push(await explain(text, values, mode))
    return config instanceof pg.Query ? { rows: await ask(client, { text }, values) } : client.query(text, values)
  }

  const pool = {
    query(config: string | Asked, values?: unknown[]) {
      const answer = turn.then(() => query(config, values))
      turn = answer.catch(() => {})
      return answer
    },
    take() {
      const taken = explained
      explained = []
      return taken
    },
    connect: async () => ({ query: pool.query, on() {}, off() {}, release() {} }),
    close: () => client.end(),
  }
  return pool as unknown as ExplainingPool
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value))
  const items = value.map((item) => (item === null ? 'NULL' : JSON.stringify(String(item))))
  return pg.escapeLiteral(`{${items.join(',')}}`)
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

const ownBlocks = (plan: PlanNode) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']

/** A node counts what its children read. Statements in WITH that nothing reads from run after it, so the sum is made here. */
function blocksOf(plan: PlanNode): number {
  const children = plan.Plans ?? []
  const own = ownBlocks(plan) - children.reduce((sum, child) => sum + ownBlocks(child), 0)
  return Math.max(0, own) + children.reduce((sum, child) => sum + blocksOf(child), 0)
}

/** Rows a statement looked at in a table, also those it threw away. */
export function rowsRead({ nodes }: Explained, table: string): number {
  const scans = nodes.filter((node) => node['Relation Name'] === table && node['Node Type'].includes('Scan'))
  return scans.reduce((sum, node) => {
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
    return sum + (node['Actual Rows'] + removed) * node['Actual Loops']
  }, 0)
}
