/** Plays a case for the service: sends its requests in order and compares the answers. */

import { at, differences, filled } from './matches.ts'

export type ServerCase = {
  name: string
  kind: 'server'
  lease_seconds?: number
  models: ({ name: string; version: string } & Record<string, unknown>)[]
  steps: ServerStep[]
}

/** `text` in place of a body that is JSON. */
type Request = { method: string; path: string; headers?: Record<string, string>; body?: unknown; text?: string }

export type ServerStep =
  | {
      request: Request
      expect: { status: number; body?: unknown; headers?: Record<string, unknown> }
      save?: Record<string, string>
    }
  | { act: 'expire-lease'; run: string }

export type Acts = { expireLease(runId: string): Promise<void> }

/** Throws at the first step that did not go as stated. */
export async function playServerCase({ steps }: ServerCase, url: string, acts: Acts): Promise<void> {
  const values: Record<string, unknown> = {}
  for (const [index, unfilled] of steps.entries()) {
    const step = filled(unfilled, values)
    if ('act' in step) {
      await acts.expireLease(step.run)
      continue
    }
    const { method, path, headers = {}, body, text: sent } = step.request
    const answer = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(sent !== undefined && { body: sent }),
    })
    const text = await answer.text()
    const came = {
      status: answer.status,
      body: text === '' ? undefined : JSON.parse(text),
      headers: Object.fromEntries(answer.headers),
    }
    const wrong = differences(step.expect, came)
    if (wrong.length > 0) throw new Error(`step ${index + 1}, ${method} ${path}: ${wrong.join('; ')}\n${text}`)
    for (const [name, pointer] of Object.entries(step.save ?? {})) values[name] = at(came.body, pointer)
  }
}
