import { describe, expect, it } from 'vitest'
import { filterIn, isUndelivered, readable, runIdIn, stateWords } from './delivery-words.ts'

const ID = '0198f1c2-9d7a-7c3e-8a51-b2c3d4e5f607'

describe('the filter of deliveries', () => {
  it('is read from the address', () => {
    const search = { state: 'DEAD', channel: 'mail', receiver: ID, kind: 'failure', owner: 'ana' }
    expect(filterIn(search)).toEqual({
      state: 'DEAD',
      channel: 'mail',
      receiver_id: ID,
      kind: 'failure',
      owner: 'ana',
    })
  })

  it('leaves out what the API would refuse', () => {
    expect(filterIn({ state: 'GONE', channel: 'pigeon', receiver: 'nobody', delivery: ID })).toEqual({})
    expect(filterIn({ state: 'toString' })).toEqual({})
  })
})

describe('a message', () => {
  it('is shown with its body as JSON where it is JSON', () => {
    expect(readable({ method: 'POST', body: '{"a":[1]}' })).toEqual({ method: 'POST', body: { a: [1] } })
    expect(readable({ status: 500, body: 'no room' })).toEqual({ status: 500, body: 'no room' })
    expect([readable(null), readable('text')]).toEqual([null, 'text'])
  })
})

describe('a delivery', () => {
  it('names its run only where there is one', () => {
    expect(runIdIn({ type: 'run.failed', data: { run_id: ID } })).toBe(ID)
    for (const data of [null, 'text', {}, { data: null }, { data: { run_id: 'javascript:1' } }]) {
      expect(runIdIn(data)).toBeNull()
    }
  })

  it('says what became of it', () => {
    expect(stateWords({ state: 'PENDING', attempt_count: 0 })).toBe('It waits to be sent.')
    expect(stateWords({ state: 'DEAD', attempt_count: 1 })).toContain('tried once')
    expect(stateWords({ state: 'DELIVERED', attempt_count: 3 })).toContain('3 times')
    expect([isUndelivered({ state: 'DROPPED' }), isUndelivered({ state: 'PENDING' })]).toEqual([true, false])
  })
})
