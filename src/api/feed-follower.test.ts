import { expect, test } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { until } from '../../test/support/until.ts'
import { type Moment, momentBefore } from '../run/moment.ts'
import type { Feed, FeedEvent } from '../store/ports/feed.ts'
import { createFeedFollower, type FeedListener } from './feed-follower.ts'

const moment = (xmax: number): Moment => momentBefore(xmax, { xmin: xmax + 1, xmax: xmax + 1, xip: [] })

function event(xid: number, runId: string): FeedEvent {
  const rest = { attempt: null, workerId: null, message: null, data: null, status: null }
  return { xid, runId, seq: 1, type: 'created', at: new Date(0), owner: 'o', model: 'm', queue: 'q', ...rest }
}

/** A database whose transactions are numbers that the test counts up. */
function scripted() {
  const state = { cluster: 'a', xmax: 1, looks: 0, asked: [] as (readonly string[] | null | undefined)[], fail: 0 }
  const events: FeedEvent[] = []
  const feed: Feed = {
    async now() {
      state.looks += 1
      if (state.fail > 0) {
        state.fail -= 1
        throw new Error('no connection')
      }
      return { cluster: state.cluster, atMs: 0, moment: moment(state.xmax) }
    },
    async batch({ after, until: end, last }, { runIds }) {
      state.asked.push(runIds)
      const found = events.filter(
        ({ xid, runId }) =>
          xid >= after.xmax && xid < end.xmax && xid > (last?.xid ?? 0) && (!runIds || runIds.includes(runId)),
      )
      return { events: found.slice(0, 2), more: found.length > 2 }
    },
    read: () => Promise.reject(new Error('not used')),
    ofRun: () => Promise.reject(new Error('not used')),
    tidy: async () => {},
  }
  const { log, lines } = recordingLog()
  const follower = createFeedFollower({ feed, log, pollMs: 2, render: ({ runId }) => runId })
  const commit = (...runIds: string[]) => {
    for (const runId of runIds) events.push(event(state.xmax + events.length, runId))
    state.xmax += events.length
  }
  return { state, feed, follower, commit, lines }
}

function collecting(runId: string | null) {
  const seen: string[] = []
  const listener: FeedListener & { moved: number } = {
    runId,
    moved: 0,
    onEvent: (live) => void seen.push(live.text()),
    onMoved() {
      listener.moved += 1
    },
  }
  return { seen, listener }
}

test('each event goes to those who listen to its run and to those who listen to all, in order', async () => {
  const { follower, commit } = scripted()
  const [a, all] = [collecting('a'), collecting(null)]
  await follower.listen(a.listener)
  await follower.listen(all.listener)
  commit('a', 'b', 'a', 'c', 'a')
  await until(() => all.seen.length === 5, { what: 'all events are handed out' })
  expect(all.seen).toEqual(['a', 'b', 'a', 'c', 'a'])
  expect(a.seen).toEqual(['a', 'a', 'a'])
  await follower.close()
})

test('the database is asked only while somebody listens, and only about the runs somebody listens to', async () => {
  const { follower, commit, state } = scripted()
  expect(state.looks).toBe(0)
  const a = collecting('a')
  const { close } = await follower.listen(a.listener)
  commit('a', 'b')
  await until(() => a.seen.length === 1, { what: 'the event is handed out' })
  expect(state.asked).toEqual([['a']])
  close()
  expect(follower.listeners()).toBe(0)
  let before = -1
  await until(
    () => {
      const isQuiet = before === state.looks
      before = state.looks
      return isQuiet
    },
    { what: 'nobody asks any more', everyMs: 30 },
  )
  await follower.close()
})

test('a failed look is repeated from the same place', async () => {
  const { follower, commit, state, lines } = scripted()
  const all = collecting(null)
  await follower.listen(all.listener)
  state.fail = 2
  commit('a')
  await until(() => all.seen.length === 1, { what: 'the event is handed out' })
  expect(lines.filter(({ msg }) => msg === 'events could not be read')).toHaveLength(1)
  await follower.close()
})

test('who begins to listen while the database is away is told so, and nothing is left of it', async () => {
  const { follower, state } = scripted()
  state.fail = 1
  await expect(follower.listen(collecting(null).listener)).rejects.toThrow('no connection')
  expect(follower.listeners()).toBe(0)
  await follower.close()
})

test.each([
  ['another cluster', { cluster: 'b' }],
  ['an earlier time', { xmax: 0 }],
])('when the database is suddenly that of %s, everyone is let go', async (_what, change) => {
  const { follower, state } = scripted()
  const all = collecting(null)
  await follower.listen(all.listener)
  Object.assign(state, change)
  await until(() => all.listener.moved === 1, { what: 'the listener is told' })
  await follower.close()
})

test('a listener that fails holds up no other', async () => {
  const { follower, commit, lines } = scripted()
  const all = collecting(null)
  const broken = { ...collecting(null).listener, onEvent: () => expect.fail('broken') }
  await follower.listen(broken)
  await follower.listen(all.listener)
  commit('a', 'b')
  await until(() => all.seen.length === 2, { what: 'both events are handed out' })
  expect(lines.some(({ msg }) => msg === 'a listener failed')).toBe(true)
  await follower.close()
})

test('after the end nobody can begin to listen', async () => {
  const { follower } = scripted()
  await follower.close()
  await expect(follower.listen(collecting(null).listener)).rejects.toMatchObject({ code: 'shutting-down' })
})
