/** How far the present attempt says it is, and how many steps are done. */

import type { Run, Step } from '@holdfast/client'
import { Group, Progress, Text } from '@mantine/core'
import { progressOf } from './progress-words.ts'

export function RunProgress({ run, steps }: { run: Run; steps: Step[] }) {
  const last = run.attempts?.at(-1)
  if (run.status !== 'RUNNING' || !last) return null
  const told = progressOf(last.progress)
  const done = steps.filter(({ state }) => state === 'SUCCEEDED').length
  const shown =
    told ?? (steps.length > 0 ? { fraction: done / steps.length, words: `${done} of ${steps.length} steps` } : null)
  if (shown === null) return null
  return (
    <Group gap="sm" wrap="nowrap">
      <Text size="sm" fw={600}>
        Progress
      </Text>
      {shown.fraction !== null && (
        <Progress
          value={shown.fraction * 100}
          aria-label="Progress of the attempt"
          flex={1}
          maw={420}
          transitionDuration={200}
        />
      )}
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {shown.words}
      </Text>
    </Group>
  )
}
