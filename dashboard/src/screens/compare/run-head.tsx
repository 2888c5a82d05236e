/** One of the two runs at a glance. */

import type { Run } from '@holdfast/client'
import { Group, Text } from '@mantine/core'
import { formatDuration } from '../../parts/format.ts'
import { Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Way } from '../../parts/way.tsx'
import classes from './compare.module.css'
import { workSeconds } from './facts.ts'

export function RunHead({ name, run }: { name: 'A' | 'B'; run: Run }) {
  const seconds = workSeconds(run)
  return (
    <section className={classes.head} aria-label={`Run ${name}`}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <span className={classes.letter} aria-hidden>
          {name}
        </span>
        <div style={{ minWidth: 0 }}>
          <Way to={`/runs/${run.run_id}`} className={classes.title}>
            {run.title ?? `${run.model}@${run.model_version}`}
          </Way>
          <Group gap="xs" mt={4}>
            <StatusBadge state={run.status} />
            <Text size="xs" c="dimmed" component="span">
              created <Moment at={run.created_at} />
              {seconds !== null && ` · took ${formatDuration(seconds)}`}
            </Text>
          </Group>
        </div>
      </Group>
    </section>
  )
}
