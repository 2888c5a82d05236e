/**
 * What every wake-up transport must do, whatever carries the hints. `open` makes a new wake-up as another process
 * would have it; a transport that ends at its process gives the same one again.
 */

import { afterEach, expect, it } from 'vitest'
import type { Topic, Wakeup, WakeupLog } from '../../src/wakeup/wakeup.ts'
import { until } from '../support/until.ts'

export type RecordedLog = WakeupLog & { warnings: string[]; notes: string[] }

export function recordLog(): RecordedLog {
  const [warnings, notes]: [string[], string[]] = [[], []]
  return {
    warnings,
    notes,
    warn: (_fields, message) => void warnings.push(message),
    info: (_fields, message) => void notes.push(message),
  }
}

/** A callback that counts its calls by topic. */
export function counter() {
  const calls = new Map<Topic, number>()
  const onHint = (topic: Topic) => void calls.set(topic, (calls.get(topic) ?? 0) + 1)
  const count = (topic: Topic) => calls.get(topic) ?? 0
  const more = (topic: Topic, than: number) =>
    until(() => count(topic) > than, { what: `a hint for ${topic}`, everyMs: 2 })
  return { onHint, count, more, topics: () => [...calls.keys()] }
}

export function wakeupConformance(open: (log: WakeupLog) => Wakeup): void {
  const opened: Wakeup[] = []
  let topicNumber = 0

  function start(log: WakeupLog = recordLog()): Wakeup {
    const wakeup = open(log)
    opened.push(wakeup)
    return wakeup
  }
  /** Tests share a server, so each has topics of its own. */
  const topic = (): Topic => `queue:conformance-${process.pid}-${topicNumber++}`

  /** Subscribes and waits for the call that says: I listen now. */
  async function listening(wakeup: Wakeup, ...topics: Topic[]) {
    const heard = counter()
    const subscription = await wakeup.subscribe(topics, heard.onHint)
    for (const each of topics) await heard.more(each, 0)
    return { ...heard, subscription }
  }

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((wakeup) => wakeup.close()))
  })

  it('calls a new subscriber once for each topic, because hints may have been missed', async () => {
    const [one, two] = [topic(), topic()]
    const heard = await listening(start(), one, two)
    expect(heard.topics().toSorted()).toEqual([one, two].toSorted())
  })

  it('carries a hint to a subscriber elsewhere', async () => {
    const [sender, receiver] = [start(), start()]
    const wanted = topic()
    const heard = await listening(receiver, wanted)
    const before = heard.count(wanted)
    sender.hint(wanted, 'run-1')
    await heard.more(wanted, before)
  })

  it('tells the subscribers of its own process at once, without a round trip', async () => {
    const wakeup = start()
    const wanted = topic()
    const heard = await listening(wakeup, wanted)
    const before = heard.count(wanted)
    wakeup.hint(wanted, 'run-1')
    await Promise.resolve()
    expect(heard.count(wanted)).toBe(before + 1)
  })

  it('makes one call of the many hints of one tick', async () => {
    const wakeup = start()
    const wanted = topic()
    const heard = await listening(wakeup, wanted)
    const before = heard.count(wanted)
    for (let i = 0; i < 500; i++) wakeup.hint(wanted, `run-${i}`)
    await Promise.resolve()
    expect(heard.count(wanted)).toBe(before + 1)
  })

  it('calls nobody for a topic they did not ask for', async () => {
    const [sender, receiver] = [start(), start()]
    const [wanted, other] = [topic(), topic()]
    const heard = await listening(receiver, wanted)
    const before = heard.count(wanted)
    sender.hint(other, 'run-1')
    sender.hint(wanted, 'run-2')
    await heard.more(wanted, before)
    expect(heard.topics()).toEqual([wanted])
  })

  it('no longer calls a subscription that was closed', async () => {
    const wakeup = start()
    const wanted = topic()
    const [closed, open] = [await listening(wakeup, wanted), await listening(wakeup, wanted)]
    await closed.subscription.close()
    const [closedBefore, openBefore] = [closed.count(wanted), open.count(wanted)]
    wakeup.hint(wanted, 'run-1')
    await open.more(wanted, openBefore)
    expect(closed.count(wanted)).toBe(closedBefore)
  })

  it('survives a callback that throws, and still calls the others', async () => {
    const log = recordLog()
    const wakeup = start(log)
    const wanted = topic()
    await wakeup.subscribe([wanted], () => {
      throw new Error('not my day')
    })
    const heard = await listening(wakeup, wanted)
    const before = heard.count(wanted)
    wakeup.hint(wanted, 'run-1')
    await heard.more(wanted, before)
    expect(log.warnings).toContain('a wake-up callback failed')
  })

  it('answers a ping', async () => {
    await expect(start().ping()).resolves.toBeUndefined()
  })

  it('takes hints before, during and after its life without a word', async () => {
    const wakeup = start()
    wakeup.hint(topic(), 'run-1')
    await wakeup.close()
    wakeup.hint(topic(), 'run-2')
    await wakeup.close()
  })

  it('sends what was hinted just before it is closed', async () => {
    const [sender, receiver] = [start(), start()]
    const wanted = topic()
    const heard = await listening(receiver, wanted)
    const before = heard.count(wanted)
    sender.hint(wanted, 'run-1')
    if (sender !== receiver) await sender.close()
    await heard.more(wanted, before)
  })
}
