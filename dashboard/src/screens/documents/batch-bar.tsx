/** How far a batch is, as a bar. The numbers stand beside it in words. */

import { Progress } from '@mantine/core'
import type { BatchCounts } from './batch-line.ts'

export function BatchBar({ counts, size = 'sm' }: { counts: BatchCounts; size?: 'sm' | 'md' }) {
  const { total, running, done, failed, cancelled, duplicate } = counts
  const share = (count: number) => (total === 0 ? 0 : (100 * count) / total)
  return (
    <Progress.Root size={size} aria-hidden>
      <Progress.Section value={share(done)} color="teal" withAria={false} />
      <Progress.Section value={share(duplicate)} color="gray" withAria={false} />
      <Progress.Section value={share(failed + cancelled)} color="red" withAria={false} />
      <Progress.Section value={share(running)} color="blue" withAria={false} animated />
    </Progress.Root>
  )
}
