import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { counter, recordLog, wakeupConformance } from '../../test/conformance/wakeup.ts'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { startProxy } from '../../test/support/proxy.ts'
import { until } from '../../test/support/until.ts'
import { createHintConnections } from '../store/notify.ts'
import { createPostgresWakeup, type HintConnections } from './postgres.ts'
import type { Topic, Wakeup } from './wakeup.ts'

describe('wake-ups over Postgres', () => {
  let database: TestDatabase
  const opened: { close(): Promise<void> }[] = []

  beforeAll(async () => {
    database = await createTestDatabase({ migrated: false })
  })
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  })
  afterAll(() => database.drop())

  function start(url = database.url, log = recordLog()): Wakeup {
    const connections = createHintConnections({ connectionString: url, checkEveryMs: 50, timeoutMs: 400 })
    const wakeup = createPostgresWakeup({ connections, log, random: () => 0.5 })
    opened.push(wakeup)
    return wakeup
  }

  async function throughProxy() {
    const { hostname: host, port } = new URL(database.url)
    const proxy = await startProxy({ host, port: Number(port) })
    opened.push(proxy)
    return proxy
  }

  wakeupConformance((log) =>
    createPostgresWakeup({ connections: createHintConnections({ connectionString: database.url }), log }),
  )

  it('reconnects after a cut, calls everyone for each topic, and hears hints again', async () => {
    const proxy = await throughProxy()
    const log = recordLog()
    const heard = counter()
    const topics: Topic[] = ['queue:cut-a', 'queue:cut-b']
    await start(proxy.through(database.url), log).subscribe(topics, heard.onHint)
    for (const topic of topics) await heard.more(topic, 0)
    const before = topics.map(heard.count)
    proxy.cut()
    for (const [index, topic] of topics.entries()) await heard.more(topic, before[index] ?? 0)
    const again = heard.count('queue:cut-a')
    start().hint('queue:cut-a', 'run-1')
    await heard.more('queue:cut-a', again)
    expect(log.warnings).toHaveLength(1)
  })

  it('finds out a connection that is open and dead', async () => {
    const proxy = await throughProxy()
    const [log, heard] = [recordLog(), counter()]
    await start(proxy.through(database.url), log).subscribe(['queue:half-open'], heard.onHint)
    await heard.more('queue:half-open', 0)
    const before = heard.count('queue:half-open')
    proxy.halfOpen()
    await until(() => log.warnings.length > 0, { what: 'the dead connection is given up' })
    proxy.resume()
    await heard.more('queue:half-open', before)
  })

  it('sends again after the sending connection was killed by the server', async () => {
    const [sender, heard] = [start(), counter()]
    await start().subscribe(['queue:killed'], heard.onHint)
    await sender.ping()
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'holdfast notify' AND datname = current_database()`,
    )
    const before = heard.count('queue:killed')
    await until(
      () => {
        sender.hint('queue:killed', 'run-1')
        return heard.count('queue:killed') > before
      },
      { what: 'a hint comes through again' },
    )
  })

  it('does not wait for the disk on the sending connection', async () => {
    const connections = createHintConnections({ connectionString: database.url })
    const sender = await connections.openHintSender(() => {})
    opened.push(sender)
    const [row] = await database.query(
      `SELECT query FROM pg_stat_activity WHERE application_name = 'holdfast notify' AND datname = current_database()`,
    )
    expect(row?.query).toBe('SET synchronous_commit = off')
  })
})

describe('wake-ups over Postgres, with connections made for the test', () => {
  const opened: Wakeup[] = []
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((wakeup) => wakeup.close()))
  })

  /** A sender whose sendings end when the test says so; `isUp` decides whether it can be opened. */
  function controlled(gapMs?: number) {
    const sendings: { topics: string[]; end: () => void; fail: () => void }[] = []
    const state = { isUp: true, opens: 0 }
    const connections: HintConnections = {
      async openHintSender() {
        state.opens++
        if (!state.isUp) throw new Error('connection refused')
        const send = (topics: string[]) =>
          new Promise<void>((resolve, reject) => {
            sendings.push({ topics, end: resolve, fail: () => reject(new Error('failed')) })
          })
        return { send, ping: async () => {}, close: async () => {} }
      },
      async openHintListener() {
        if (!state.isUp) throw new Error('connection refused')
        return { close: async () => {} }
      },
    }
    const log = recordLog()
    const wakeup = createPostgresWakeup({ connections, log, random: () => 0.5, gapMs })
    opened.push(wakeup)
    const sending = (index: number) => until(() => sendings[index], { what: `sending ${index}`, everyMs: 1 })
    return { wakeup, sendings, sending, state, log }
  }

  it('sends the hints of one tick in one sending, each topic once', async () => {
    const { wakeup, sending } = controlled()
    for (let i = 0; i < 100; i++) wakeup.hint(`queue:${i % 3}`, `run-${i}`)
    const first = await sending(0)
    expect(first.topics).toEqual(['queue:0', 'queue:1', 'queue:2'])
    first.end()
  })

  it('gathers what comes while a sending is under way into a single next one', async () => {
    const { wakeup, sending, sendings } = controlled()
    wakeup.hint('queue:a', 'run-1')
    const first = await sending(0)
    wakeup.hint('queue:a', 'run-2')
    wakeup.hint('queue:b', 'run-3')
    wakeup.hint('queue:a', 'run-4')
    expect(sendings).toHaveLength(1)
    first.end()
    const second = await sending(1)
    expect(second.topics).toEqual(['queue:a', 'queue:b'])
    second.end()
  })

  it('gathers what comes soon after a sending, too', async () => {
    const { wakeup, sending, sendings } = controlled(50)
    wakeup.hint('queue:a', 'run-1')
    ;(await sending(0)).end()
    await turn()
    wakeup.hint('queue:a', 'run-2')
    await turn()
    expect(sendings).toHaveLength(1)
    wakeup.hint('queue:b', 'run-3')
    const second = await sending(1)
    expect(second.topics).toEqual(['queue:a', 'queue:b'])
    second.end()
  })

  it('goes on after a sending that failed', async () => {
    const { wakeup, sending } = controlled()
    wakeup.hint('queue:a', 'run-1')
    ;(await sending(0)).fail()
    wakeup.hint('queue:b', 'run-2')
    const next = await sending(1)
    expect(next.topics).toEqual(['queue:b'])
    next.end()
  })

  it('holds a bounded number of topics while the database is down, and sends them when it is back', async () => {
    const { wakeup, sending, state } = controlled()
    state.isUp = false
    for (let i = 0; i < 20_000; i++) wakeup.hint(`worker:${i}`, 'run-1')
    await until(() => state.opens > 0, { what: 'a try to connect', everyMs: 1 })
    state.isUp = true
    const first = await sending(0)
    expect(first.topics).toHaveLength(10_000)
    first.end()
  })

  it('does not hold up a subscriber when the database is down at the start', async () => {
    const { wakeup, state, log } = controlled()
    state.isUp = false
    const heard = counter()
    await wakeup.subscribe(['queue:late'], heard.onHint)
    expect(heard.count('queue:late')).toBe(0)
    state.isUp = true
    await heard.more('queue:late', 0)
    expect(log.warnings).toHaveLength(1)
  })

  it('rejects a ping while there is no connection', async () => {
    const { wakeup, state } = controlled()
    state.isUp = false
    await expect(wakeup.ping()).rejects.toThrow('the wake-up connection is down')
  })

  it('ignores a topic that no notification can carry', async () => {
    const { wakeup, sending } = controlled()
    wakeup.hint(`queue:${'x'.repeat(5_000)}`, 'run-1')
    wakeup.hint('queue:short', 'run-2')
    const first = await sending(0)
    expect(first.topics).toEqual(['queue:short'])
    first.end()
  })
})
