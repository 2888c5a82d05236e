import { expect, test, vi } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import type { AttemptLogs } from '../store/ports/attempt-logs.ts'
import { AttemptLog } from './attempt-log.ts'
import { LogWriter } from './log-writer.ts'

const LEASES = [fakeLease(), fakeLease({ runId: '01900000-0000-7000-8000-000000000002' })] as const

function setUp() {
  const written: string[] = []
  const append = vi.fn<AttemptLogs['append']>(async (items) => {
    for (const { fence, pieces } of items) for (const { text } of pieces) written.push(`${fence.runId.at(-1)} ${text}`)
    return { lost: [] }
  })
  const writer = new LogWriter({ append })
  const logs = LEASES.map((lease) => new AttemptLog(lease, () => [], 1_000))
  const print = (no: 0 | 1, text: string) => {
    logs[no]!.add('stdout', text)
    writer.note(logs[no]!)
  }
  return { written, append, writer, logs, print }
}

test('what several attempts printed is one write', async () => {
  const { written, append, writer, print } = setUp()
  print(0, 'a')
  print(1, 'b')
  await writer.write()
  await writer.write()
  expect([append.mock.calls.length, written]).toEqual([1, ['1 a', '2 b']])
})

test('the end of an attempt waits for the write under way and writes the rest behind it', async () => {
  const { written, append, writer, logs, print } = setUp()
  const first = Promise.withResolvers<void>()
  append.mockImplementationOnce(async (items) => {
    await first.promise
    written.push(...items.flatMap(({ pieces }) => pieces.map(({ text }) => `first ${text}`)))
    return { lost: [] }
  })
  print(0, 'a')
  const writing = writer.write()
  print(0, 'b')
  print(1, 'c')
  const ended = Promise.all([writer.end(logs[0]!), writer.end(logs[1]!)])
  first.resolve()
  await Promise.all([writing, ended])
  expect(written).toEqual(['first a', '1 b', '2 c'])
  expect(append).toHaveBeenCalledTimes(2)
})

test('an attempt that printed nothing ends at once', async () => {
  const { append, writer, logs } = setUp()
  await writer.end(logs[0]!)
  expect(append).not.toHaveBeenCalled()
})

test('what could not be written is written by the next write, in its order', async () => {
  const { written, append, writer, print } = setUp()
  append.mockRejectedValueOnce(new Error('the database is away'))
  print(0, 'a')
  await expect(writer.write()).rejects.toThrow('away')
  print(0, 'b')
  await writer.write()
  expect(written.join()).toBe('1 ab')
})

test('an attempt that is lost keeps nothing more', async () => {
  const { append, writer, logs, print } = setUp()
  append.mockResolvedValueOnce({ lost: [LEASES[0]] })
  print(0, 'a')
  print(1, 'b')
  await writer.write()
  print(0, 'late')
  print(1, 'c')
  expect([logs[0]!.isEmpty, logs[1]!.isEmpty]).toEqual([true, false])
})

test('the end of an attempt waits for the write that has the last of it', async () => {
  const { append, writer, logs, print } = setUp()
  const write = Promise.withResolvers<{ lost: [] }>()
  append.mockReturnValueOnce(write.promise)
  print(0, 'a')
  const writing = writer.write()
  let isOver = false
  const ended = writer.end(logs[0]!).then(() => {
    isOver = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  write.resolve({ lost: [] })
  await Promise.all([writing, ended])
})
