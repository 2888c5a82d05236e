/**
 * `holdfast token`: makes, lists and revokes access tokens straight on the database, so that the first one can exist, and the last
 * administrator who lost theirs can make another. Whoever can reach the database may do so.
 */

import type { Command } from 'commander'
import { storeNewToken } from '../../api/make-token.ts'
import { presentToken } from '../../api/present-token.ts'
import { TokenBody, type TokenObject } from '../../contract/access.ts'
import type { Store } from '../../store/store.ts'
import { ACTOR } from '../actor.ts'
import { isSure } from '../are-you-sure.ts'
import { withStore } from '../database.ts'
import { parseDuration } from '../duration.ts'
import { table } from '../table.ts'

const PAGE = 200
const ROLES = 'viewer, submitter, worker, operator or admin'
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type CreateOptions = {
  role: string
  owner: string
  name?: string
  queues?: string
  expires?: string
  json?: boolean
}

export function addToken(program: Command): void {
  const token = program.command('token').description('make, list and revoke access tokens, straight on the database')
  token
    .command('create')
    .description('make a token; it is printed once and stored nowhere')
    .requiredOption('--role <role>', ROLES)
    .requiredOption('--owner <name>', 'whose runs its holder makes')
    .option('--name <text>', 'what it is for')
    .option('--queues <list>', 'of a worker token: the only queues it may take runs from, between commas')
    .option('--expires <time>', 'how long it is valid, e.g. 12h, 30d or 52w; for ever without it')
    .option('--json', 'print the token and what it may do as JSON')
    .action(create)
  token.command('list').description('show all tokens').option('--json', 'print them as JSON').action(list)
  token
    .command('revoke <id>')
    .description('end a token and the sessions that were started with it')
    .option('--yes', 'do not ask')
    .option('--json', 'print the token as JSON')
    .action(revoke)
}

async function create(options: CreateOptions): Promise<void> {
  const body = bodyOf(options)
  await withStore(async (store) => {
    const { token, text } = await storeNewToken(store.tokens, body, ACTOR)
    const shown = presentToken(token)
    if (options.json) return print(JSON.stringify({ ...shown, token: text }))
    const until = shown.expires_at ? `until ${shown.expires_at}` : 'until it is revoked'
    process.stderr.write(
      `Token ${shown.token_id} (${shown.role}, owner ${shown.owner}) works ${until}. It is shown once:\n`,
    )
    print(text)
  })
}

function bodyOf({ role, owner, name, queues, expires }: CreateOptions): TokenBody {
  const parsed = TokenBody.safeParse({
    role,
    owner,
    name,
    queues: queues?.split(',').flatMap((queue) => queue.trim() || []),
    expires_in_seconds: expires === undefined ? undefined : parseDuration(expires),
  })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const option = String(issue?.path[0]).replace('expires_in_seconds', 'expires')
  throw new Error(`--${option} ${option === 'role' ? `must be ${ROLES}` : issue?.message}`)
}

async function list(options: { json?: boolean }): Promise<void> {
  await withStore(async (store) => {
    const tokens = await allTokens(store)
    if (options.json) return print(JSON.stringify(tokens))
    if (tokens.length === 0) return print('There are no tokens. "holdfast token create" makes one.')
    print(table([['ID', 'ROLE', 'OWNER', 'NAME', 'STATE', 'LAST USED'], ...tokens.map(rowOf)]))
  })
}

async function allTokens(store: Store): Promise<TokenObject[]> {
  const tokens: TokenObject[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<Store['tokens']['list']>> = await store.tokens.list({ limit: PAGE, cursor })
    tokens.push(...page.tokens.map(presentToken))
    cursor = page.nextCursor
  } while (cursor !== null)
  return tokens
}

function rowOf(token: TokenObject): string[] {
  return [token.token_id, token.role, token.owner, token.name, stateOf(token), token.last_used_at ?? 'never']
}

function stateOf({ revoked_at, expires_at }: TokenObject): string {
  if (revoked_at) return `revoked ${revoked_at}`
  if (!expires_at) return 'live'
  return `${Date.parse(expires_at) <= Date.now() ? 'expired' : 'live until'} ${expires_at}`
}

async function revoke(id: string, options: { yes?: boolean; json?: boolean }): Promise<void> {
  if (!ID.test(id)) throw new Error(`${JSON.stringify(id)} is not the id of a token; "holdfast token list" shows them`)
  const question = `Revoke the token ${id}?`
  if (!options.yes && !(await isSure(question, 'add --yes to revoke a token without being asked'))) {
    throw new Error('nothing was revoked')
  }
  await withStore(async (store) => {
    const token = await store.tokens.revoke(id.toLowerCase(), ACTOR)
    if (!token) throw new Error(`there is no token ${id}; "holdfast token list" shows them`)
    const shown = presentToken(token)
    print(options.json ? JSON.stringify(shown) : `Revoked ${shown.token_id} (${shown.role}, owner ${shown.owner}).`)
  })
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
