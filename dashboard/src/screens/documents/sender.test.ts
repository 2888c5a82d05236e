import { HoldfastError, QuotaExceeded, Transient, type Upload } from '@holdfast/client'
import { expect, it, onTestFinished } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import { type Door, Sender, TRIES_MAX } from './sender.ts'

type Sent = { name: string; key: string; how: 'sent' | 'handed in' }

/** A service in memory: knows what it has by content, and answers a key it has seen as it did before. */
function service(earlier: string[] = []) {
  const has = new Map<string, Upload[]>(earlier.map((text) => [text, [uploadOf('before', `old ${text}`, 'other')]]))
  const byKey = new Map<string, Upload>()
  const log: Sent[] = []
  const sleeps: number[] = []
  const fate: { next: ((name: string) => void) | null } = { next: null }
  let readers = 0
  const most = { readers: 0, sending: 0 }

  function take(sha256: string, { name, key }: { name: string; key: string }, how: Sent['how']): Upload {
    const known = byKey.get(key)
    if (known) return known
    const uploads = has.get(sha256) ?? []
    const upload = uploadOf(key, name, 'batch', uploads.length > 0)
    log.push({ name, key, how })
    byKey.set(key, upload)
    has.set(sha256, [...uploads, upload])
    return upload
  }

  const door: Door = {
    begin: async () => fate.next?.('begin'),
    uploadsOf: async (sha256) => {
      fate.next?.('list')
      return has.get(sha256) ?? []
    },
    handIn: async (sha256, options) => {
      fate.next?.(options.name)
      return has.has(sha256) ? take(sha256, options, 'handed in') : null
    },
    send: async (file, options) => {
      await Promise.resolve()
      fate.next?.(options.name)
      options.onProgress(file.size)
      return take(await file.text(), options, 'sent')
    },
    digest: async (file) => {
      readers += 1
      most.readers = Math.max(most.readers, readers)
      await Promise.resolve()
      readers -= 1
      return file.text()
    },
    key: async (path, sha256) => `${path} ${sha256}`,
    sleep: async (ms, signal) => {
      sleeps.push(ms)
      if (ms >= 15_000) await new Promise((_, reject) => signal.addEventListener('abort', reject))
    },
    nowMs: () => 0,
  }
  return { door, log, sleeps, fate, has, most }
}

function uploadOf(id: string, name: string, batchId: string, duplicate = false): Upload {
  const state = duplicate ? 'DUPLICATE' : 'UPLOADED'
  return { upload_id: id, name, batch_id: batchId, state, duplicate } as Upload
}

function sender(door: Door, files: Record<string, string>, claims = false): Sender {
  const dropped = Object.entries(files).map(([path, text]) => ({ path, file: new File([text], path) }))
  const made = new Sender({ batchId: 'batch', files: dropped, door, claims })
  onTestFinished(() => made.pause())
  return made
}

const phaseIs = (one: Sender, is: string) => until(async () => one.read().phase.is === is, { what: `it is ${is}` })
const states = (one: Sender) =>
  one
    .read()
    .rows.map(({ state }) => (state.at === 'in' ? state.upload.state : state.at))
    .join(' ')

it('sends each content once: what is there already, and what is twice in the drop, is handed in without its bytes', async () => {
  const { door, log } = service(['old'])
  const one = sender(door, { 'a.txt': 'x', 'b.txt': 'old', 'f/c.txt': 'x', 'd.txt': 'y' })
  one.start()
  await phaseIs(one, 'finished')
  expect(states(one)).toBe('UPLOADED DUPLICATE DUPLICATE UPLOADED')
  expect(
    log
      .filter(({ how }) => how === 'sent')
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['a.txt', 'd.txt'])
  expect(one.read()).toMatchObject({ bytes: 6, bytesTotal: 6 })
})

it('reads ahead with one lane and gets through many files', async () => {
  const { door, log } = service()
  const files = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`${index}.txt`, `${index % 2_500}`]))
  const one = sender(door, files)
  one.start()
  await phaseIs(one, 'finished')
  expect(log.filter(({ how }) => how === 'sent')).toHaveLength(2_500)
  expect(states(one).match(/DUPLICATE/g)).toHaveLength(500)
})

it('while the service is away it waits longer and longer, and goes on by itself without sending anything twice', async () => {
  const { door, log, sleeps, fate } = service()
  let failures = 0
  fate.next = (what) => {
    if (what === 'b.txt' && failures < 3) {
      failures += 1
      throw new Transient('connection refused')
    }
  }
  const one = sender(door, { 'a.txt': 'x', 'b.txt': 'y', 'c.txt': 'z' })
  one.start()
  await phaseIs(one, 'finished')
  expect(sleeps[0]).toBe(1_000)
  expect(sleeps.length).toBeGreaterThan(1)
  expect(log.map(({ name }) => name).sort()).toEqual(['a.txt', 'b.txt', 'c.txt'])
})

it('a reply that was lost makes no duplicate: the key is the same', async () => {
  const { door, log } = service()
  const { send } = door
  let isLost = true
  door.send = async (file, options) => {
    const upload = await send(file, options)
    if (isLost) {
      isLost = false
      throw new Transient('lost')
    }
    return upload
  }
  const one = sender(door, { 'a.txt': 'x' })
  one.start()
  await phaseIs(one, 'finished')
  expect(states(one)).toBe('UPLOADED')
  expect(log).toHaveLength(1)
})

it('after enough tries it stops and says nothing is lost; told to, it goes on', async () => {
  const { door, log, sleeps, fate } = service()
  door.sleep = async (ms) => void sleeps.push(ms)
  fate.next = () => {
    throw new HoldfastError('no answer')
  }
  const one = sender(door, { 'a.txt': 'x', 'b.txt': 'y' })
  one.start()
  await phaseIs(one, 'stopped')
  expect(sleeps).toEqual([1_000, 2_000, 4_000, 8_000, 15_000])
  expect(sleeps).toHaveLength(TRIES_MAX - 1)
  expect(one.read().phase).toEqual({ is: 'stopped', advice: null })
  expect([states(one), one.isUnderWay, log.length]).toEqual(['waiting waiting', true, 0])
  fate.next = null
  one.start()
  await phaseIs(one, 'finished')
  expect(states(one)).toBe('UPLOADED UPLOADED')
})

it('told to try now it does not wait', async () => {
  const { door, fate } = service()
  door.sleep = (_ms, signal) => new Promise((_, reject) => signal.addEventListener('abort', reject))
  fate.next = () => {
    throw new HoldfastError('no answer')
  }
  const one = sender(door, { 'a.txt': 'x' })
  one.start()
  await phaseIs(one, 'away')
  fate.next = null
  one.start()
  await phaseIs(one, 'finished')
})

it('what is wrong with one file stops none of the others, and its twin is sent in its place', async () => {
  const { door, fate, log } = service()
  fate.next = (what) => {
    if (what === 'a.txt') throw new HoldfastError('too large', { status: 413, code: 'file-too-large' })
  }
  const one = sender(door, { 'a.txt': 'x', 'b.txt': 'x', 'c.txt': 'z' })
  one.start()
  await phaseIs(one, 'finished')
  expect(states(one)).toBe('failed UPLOADED UPLOADED')
  fate.next = null
  one.retry(0)
  await until(
    async () => states(one) === 'DUPLICATE UPLOADED UPLOADED' || states(one) === 'UPLOADED UPLOADED UPLOADED',
    {
      what: 'it is sent again',
    },
  )
  expect(log).toHaveLength(3)
})

it('a quota that is used up stops all of them at once', async () => {
  const { door, fate, log } = service()
  fate.next = (what) => {
    if (what.endsWith('.txt')) throw new QuotaExceeded('no', { status: 429, code: 'quota-exceeded' })
  }
  const one = sender(door, Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}.txt`, `${index}`])))
  one.start()
  await phaseIs(one, 'stopped')
  expect(one.read().phase).toMatchObject({ advice: { what: 'Your quota is used up.' } })
  expect([log.length, states(one).includes('failed')]).toEqual([0, false])
})

it('paused it sends nothing; it goes on where it was', async () => {
  const { door, fate, log } = service()
  const one: Sender = sender(
    door,
    Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}.txt`, `${index}`])),
  )
  fate.next = (what) => {
    if (what === '10.txt') one.pause()
  }
  one.start()
  await phaseIs(one, 'paused')
  const sent = log.length
  expect(sent).toBeLessThan(40)
  fate.next = null
  one.start()
  await phaseIs(one, 'finished')
  expect(new Set(log.map(({ key }) => key)).size).toBe(log.length)
  expect(log).toHaveLength(40)
})

it('the same files chosen again after a reload are recognised, each once', async () => {
  const { door, log, has } = service()
  has.set('x', [uploadOf('u1', 'a.txt', 'batch'), uploadOf('u2', 'a.txt', 'batch', true)])
  const one = sender(door, { 'a.txt': 'x', 'f/a.txt': 'x', 'g/a.txt': 'x', 'b.txt': 'y' }, true)
  one.start()
  await phaseIs(one, 'finished')
  expect(states(one)).toBe('UPLOADED DUPLICATE DUPLICATE UPLOADED')
  expect(log.map(({ name, how }) => `${name} ${how}`).sort()).toEqual(['a.txt handed in', 'b.txt sent'])
})
