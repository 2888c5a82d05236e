import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { Mailbox } from './mailbox.ts'

it('gives back what was added, once and in order', () => {
  const mailbox = new Mailbox(Mailbox.memory(10))
  expect(mailbox.take()).toBe('')
  expect([mailbox.add('one,'), mailbox.add('two,')]).toEqual([true, true])
  expect(mailbox.take()).toBe('one,two,')
  expect(mailbox.take()).toBe('')
})

it('refuses what does not fit, whole, until it has been emptied', () => {
  const mailbox = new Mailbox(Mailbox.memory(4))
  expect([mailbox.add('abc'), mailbox.add('de'), mailbox.add('f')]).toEqual([true, false, true])
  expect(mailbox.take()).toBe('abcf')
  expect([mailbox.add('abcde'), mailbox.add('abcd')]).toEqual([false, true])
})

it('loses and repeats nothing while one thread adds and another takes', async () => {
  const memory = Mailbox.memory(64)
  const program = `
    const { workerData } = require('node:worker_threads')
    import(workerData.module).then(({ Mailbox }) => {
      const mailbox = new Mailbox(workerData.memory)
      for (let no = 1; no <= 20000; no += 1) while (!mailbox.add(no + ',')) {}
    })`
  const thread = new Worker(program, {
    eval: true,
    workerData: { memory, module: new URL('./mailbox.ts', import.meta.url).href },
  })
  const mailbox = new Mailbox(memory)
  let text = ''
  const ended = new Promise<void>((resolve, reject) => thread.on('error', reject).on('exit', () => resolve()))
  let isOver = false
  void ended.finally(() => {
    isOver = true
  })
  while (!isOver) {
    for (let looks = 0; looks < 1_000; looks += 1) text += mailbox.take()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ended
  text += mailbox.take()
  expect(text).toBe(Array.from({ length: 20_000 }, (_, index) => `${index + 1},`).join(''))
})
