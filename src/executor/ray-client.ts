/**
 * The calls of the Ray Jobs REST API that Holdfast needs. Replies are checked against a schema and limited in size.
 *
 * Three kinds of answers are kept apart: what Ray says (a value, or null where there is no such job), a refusal (`RayRefused`, with the
 * status), and silence (`RayUnreachable`), after which nothing is known. A reply that makes no sense counts as silence.
 */

import { z } from 'zod'
import { connectTo, type Exchange, RayUnreachable, type Reply } from './ray-http.ts'

export { RayUnreachable } from './ray-http.ts'

export class RayRefused extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(`Ray answered ${status}: ${text}`)
    this.name = 'RayRefused'
    this.status = status
  }
}

const JOB = z.object({
  type: z.string().nullish(),
  submission_id: z.string().nullish(),
  job_id: z.string().nullish(),
  status: z.enum(['PENDING', 'RUNNING', 'STOPPED', 'SUCCEEDED', 'FAILED']),
  message: z.string().nullish(),
  error_type: z.string().nullish(),
  driver_exit_code: z.number().nullish(),
  driver_node_id: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  runtime_env: z.object({ env_vars: z.record(z.string(), z.string()).nullish() }).nullish(),
})
export type RayJob = z.infer<typeof JOB>

const JOBS = z.array(z.unknown())
const VERSION = z.object({ ray_version: z.string(), session_name: z.string().nullish() })
const ACCEPTED = z.object({ submission_id: z.string() })
const STOPPED = z.object({ stopped: z.boolean() })
const LOG = z.object({ logs: z.string() })

/** As Ray spells it. */
export type RaySubmission = {
  entrypoint: string
  submission_id: string
  runtime_env: { [name: string]: unknown }
  metadata: Record<string, string>
  entrypoint_num_cpus?: number
  entrypoint_num_gpus?: number
  entrypoint_memory?: number
  entrypoint_resources?: Record<string, number>
}

/** `head` is the log's beginning as text; `tail` the end of the reply as it came, escapes and all. */
export type RayLog = { head: string; tail: string; cut: boolean }

export type RayClientOptions = {
  address: string
  /** Asked for each request, so that a token that was changed is used at once. */
  token?: () => string | null
  /** For one exchange that only asks. Those that may have to wait for an agent or move much data have three times as long. */
  timeoutMs?: number
}

const MIB = 1_048_576
const JOB_BYTES_MAX = 4 * MIB
const LIST_BYTES_MAX = 64 * MIB
const ERROR_TEXT_MAX = 2_000

export function isOver({ status }: RayJob): boolean {
  return status === 'STOPPED' || status === 'SUCCEEDED' || status === 'FAILED'
}

export class RayClient {
  readonly #connection: ReturnType<typeof connectTo>
  readonly #token: () => string | null
  readonly #timeoutMs: number

  constructor(options: RayClientOptions) {
    this.#connection = connectTo(options.address)
    this.#token = options.token ?? (() => null)
    this.#timeoutMs = options.timeoutMs ?? 10_000
  }

  get #slow() {
    return { timeoutMs: this.#timeoutMs * 3 }
  }

  close(): void {
    this.#connection.close()
  }

  async version(): Promise<{ rayVersion: string; session: string | null }> {
    const found = read(VERSION, await this.#ask('GET', '/api/version'))
    return { rayVersion: found.ray_version, session: found.session_name ?? null }
  }

  async submit(submission: RaySubmission): Promise<void> {
    // Without the slash at the end Ray answers 405.
    read(
      ACCEPTED,
      await this.#ask('POST', '/api/jobs/', { body: Buffer.from(JSON.stringify(submission)), ...this.#slow }),
    )
  }

  async job(id: string): Promise<RayJob | null> {
    const reply = await this.#ask('GET', jobPath(id), {}, 404)
    return reply && read(JOB, reply)
  }

  /** Those that can be read; a job of another kind is no reason to see none. */
  async jobs(): Promise<RayJob[]> {
    const all = read(JOBS, await this.#ask('GET', '/api/jobs/', { headBytesMax: LIST_BYTES_MAX, ...this.#slow }))
    return all.flatMap((one) => JOB.safeParse(one).data ?? [])
  }

  /** True: a supervisor was told. False: there is none (yet, or any more). Null: there is no such job. */
  async stop(id: string): Promise<boolean | null> {
    const reply = await this.#ask('POST', `${jobPath(id)}/stop`, {}, 404)
    return reply && read(STOPPED, reply).stopped
  }

  async log(id: string, limits: { headBytesMax: number; tailBytesMax?: number }): Promise<RayLog | null> {
    const reply = await this.#ask('GET', `${jobPath(id)}/logs`, { ...limits, ...this.#slow }, 404)
    if (reply === null) return null
    const whole = !reply.cut && reply.tail.length === 0
    return { head: logText(reply.head, whole), tail: reply.tail.toString('latin1'), cut: reply.cut }
  }

  async hasPackage(name: string): Promise<boolean> {
    return (await this.#ask('GET', `/api/packages/gcs/${encodeURIComponent(name)}`, {}, 404)) !== null
  }

  async putPackage(name: string, body: Buffer): Promise<void> {
    const contentType = 'application/octet-stream'
    await this.#ask('PUT', `/api/packages/gcs/${encodeURIComponent(name)}`, { body, contentType, ...this.#slow })
  }

  #readToken(): string | null {
    try {
      return this.#token()
    } catch (cause) {
      throw new RayUnreachable(`the token for Ray cannot be read: ${(cause as Error).message}`, { sent: false, cause })
    }
  }

  #ask(method: Exchange['method'], path: string, more?: Partial<Exchange>): Promise<Reply>
  #ask(method: Exchange['method'], path: string, more: Partial<Exchange>, absent: number): Promise<Reply | null>
  async #ask(
    method: Exchange['method'],
    path: string,
    more: Partial<Exchange> = {},
    absent?: number,
  ): Promise<Reply | null> {
    const reply = await this.#connection.exchange({
      method,
      path,
      token: this.#readToken(),
      timeoutMs: this.#timeoutMs,
      headBytesMax: JOB_BYTES_MAX,
      ...more,
    })
    if (reply.status === 200) return reply
    if (reply.status === absent) return null
    // What stands before Ray says this while Ray is away.
    if (reply.status === 502 || reply.status === 503 || reply.status === 504) {
      throw new RayUnreachable(`what stands before Ray answered ${reply.status}`, { sent: true })
    }
    throw new RayRefused(reply.status, lastWords(reply.head))
  }
}

function jobPath(id: string): string {
  return `/api/jobs/${encodeURIComponent(id)}`
}

function read<T>(schema: z.ZodType<T>, reply: Reply): T {
  if (reply.cut) throw nonsense('it is too large')
  const value = parsed(reply.head.toString())
  if (value === undefined) throw nonsense('it is no JSON')
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw nonsense(`${issue?.path.join('.')}: ${issue?.message}`)
}

function nonsense(why: string): RayUnreachable {
  return new RayUnreachable(`the answer does not come from Ray's job server: ${why}`, { sent: true })
}

/** Ray answers errors with a Python traceback, whose end says what is wrong. */
function lastWords(body: Buffer): string {
  const text = body.toString().trim()
  return text.length > ERROR_TEXT_MAX ? `… ${text.slice(-ERROR_TEXT_MAX)}` : text
}

/** Longer than any escape, and than what an escape that was cut in its middle can spoil. */
const ESCAPE_MAX = 12

/** The text in `{"logs": "…"}`, which may be cut off anywhere, even within an escape. */
function logText(head: Buffer, whole: boolean): string {
  const text = head.toString()
  if (whole) return LOG.safeParse(parsed(text)).data?.logs ?? ''
  const start = /^\s*\{\s*"logs"\s*:\s*"/.exec(text.slice(0, 40))?.[0].length
  if (start === undefined) return ''
  for (let dropped = 0; dropped <= ESCAPE_MAX; dropped += 1) {
    const value = parsed(`"${text.slice(start, text.length - dropped)}"`)
    if (typeof value === 'string') return value
  }
  return ''
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
