/** What the hashes say about two runs, in words. */

import type { Run } from '@holdfast/client'

export type Verdict = { text: string; detail: string | null; tone: 'same' | 'notice' | 'plain' }

type Hashed = Pick<Run, 'run_id' | 'status' | 'payload_hash' | 'result_hash' | 'model' | 'model_version'>

export function verdictOf(a: Hashed, b: Hashed): Verdict {
  const isSameInput = a.payload_hash === b.payload_hash
  const input = isSameInput ? 'Same input' : 'Different input'
  if (a.result_hash === null || b.result_hash === null) {
    return { text: `${input}.`, detail: withoutResult(a, b), tone: 'plain' }
  }
  const isSameResult = a.result_hash === b.result_hash
  if (isSameInput && isSameResult) {
    const detail = 'What the model declares volatile, such as run times, does not count.'
    return { text: 'Same input, same result.', detail, tone: 'same' }
  }
  if (isSameInput) {
    const detail = 'The model does not answer the same each time, or something it depends on has changed.'
    return { text: 'Same input, but different results.', detail, tone: 'notice' }
  }
  return {
    text: `Different input, ${isSameResult ? 'but the same result' : 'different results'}.`,
    detail: null,
    tone: 'plain',
  }
}

function withoutResult(a: Hashed, b: Hashed): string {
  const without = [
    { name: 'A', run: a },
    { name: 'B', run: b },
  ].filter(({ run }) => run.result_hash === null)
  return without.map(({ name, run }) => `Run ${name} ${noResultWords(run.status)}.`).join(' ')
}

export function noResultWords(status: Run['status']): string {
  if (status === 'FAILED') return 'failed and has no result'
  if (status === 'CANCELLED') return 'was cancelled and has no result'
  if (status === 'SUCCEEDED') return 'has a result'
  return `is ${status} and has no result yet`
}
