import { describe, expect, test } from 'vitest'
import { webhookBody } from './webhook-body.ts'

const fact = (data: object) => ({ type: 'run.failed', timestamp: '2026-01-02T03:04:05.678Z', data })
const sent = (message: unknown, publicUrl: string | null = null) =>
  JSON.parse(webhookBody(message, publicUrl).toString())

describe('links', () => {
  test('lead to the run under the public URL, or are its path when there is none', () => {
    const message = fact({ run_id: 'r', batch_id: 'b' })
    expect(sent(message, 'https://h.example.org').data.links).toEqual({ self: 'https://h.example.org/runs/r' })
    expect(sent(message).data.links).toEqual({ self: '/runs/r' })
  })

  test('lead to the batch of a fact about one', () => {
    expect(sent(fact({ batch_id: 'b', run_id: null })).data).toMatchObject({ links: { self: '/batches/b' } })
  })

  test('are left out where there is nothing to lead to', () => {
    for (const message of [fact({ limit: 'x' }), { type: 'test' }, 'text', null]) expect(sent(message)).toEqual(message)
  })
})

test('the same message gives the same bytes', () => {
  const message = fact({ run_id: 'r', error: { message: 'x' } })
  expect(webhookBody(message, 'https://h')).toEqual(webhookBody(structuredClone(message), 'https://h'))
})
