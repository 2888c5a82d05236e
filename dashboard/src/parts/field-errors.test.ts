import { HoldfastError, type Problem } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { fieldErrors, isSaidAtFields } from './field-errors.ts'

function refusal(...errors: { pointer: string; detail: string }[]): HoldfastError {
  return new HoldfastError('not valid', { status: 400, problem: { errors } as unknown as Problem })
}

describe('errors of fields', () => {
  it('are found by the name of the field, the first of each', () => {
    const error = refusal(
      { pointer: '/url', detail: 'must be a URL' },
      { pointer: '/events/0', detail: 'must be an event' },
      { pointer: '/events/1', detail: 'too' },
    )
    expect(fieldErrors(error)).toEqual({ url: 'must be a URL', events: 'must be an event' })
  })

  it('say whether a form has a place for all of them', () => {
    const error = refusal({ pointer: '/url', detail: 'must be a URL' }, { pointer: '', detail: 'must be an object' })
    expect(isSaidAtFields(error, ['url'])).toBe(false)
    expect(isSaidAtFields(refusal({ pointer: '/url', detail: 'no' }), ['url', 'events'])).toBe(true)
    expect(isSaidAtFields(new Error('no answer'), ['url'])).toBe(false)
  })
})
