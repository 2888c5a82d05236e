import { expect, it, vi } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { ProgressWriter } from './progress.ts'

const first = fakeLease({ runId: 'run-1', epoch: 3, attempt: 2 })
const second = fakeLease({ runId: 'run-2' })

function setUp() {
  const saveProgress = vi.fn(async () => {})
  return { saveProgress, writer: new ProgressWriter({ saveProgress }) }
}

it('only the latest value of each attempt is written, all in one call', async () => {
  const { saveProgress, writer } = setUp()
  writer.note(first, { done: 1 })
  writer.note(second, 'half')
  writer.note(first, { done: 2 })
  await writer.write()
  expect(saveProgress).toHaveBeenCalledExactlyOnceWith([
    { runId: 'run-1', epoch: 3, attempt: 2, progress: { done: 2 } },
    { runId: 'run-2', epoch: 1, attempt: 1, progress: 'half' },
  ])
})

it('without news nothing is written', async () => {
  const { saveProgress, writer } = setUp()
  await writer.write()
  writer.note(first, 1)
  await writer.write()
  await writer.write()
  expect(saveProgress).toHaveBeenCalledTimes(1)
})
