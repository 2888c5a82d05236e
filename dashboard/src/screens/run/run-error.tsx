/** The last error of a run: what it was, what that means, what to do, and where to look. */

import type { Run } from '@holdfast/client'
import { Group, Text } from '@mantine/core'
import { CopyButton } from '../../parts/copy-button.tsx'
import { errorHint } from './error-hint.ts'
import { FilterLink, TabLink } from './filter-link.tsx'
import { Notice } from './notice.tsx'
import classes from './run.module.css'

export function RunError({ run }: { run: Run }) {
  const { last_error: error } = run
  const hint = errorHint(run)
  if (error === null || hint === null) return null
  const stack = run.attempts?.find(({ attempt }) => attempt === error.attempt)?.error?.stack ?? null
  const isOver = run.status === 'FAILED'
  return (
    <Notice tone={isOver ? 'bad' : 'quiet'} title={`${error.class} in attempt ${error.attempt}`} label="Error">
      <ScrollText className={classes.message!} text={error.message} label="Message of the error" />
      <Text size="sm">
        {hint.meaning} <b>{hint.next}</b>
      </Text>
      {stack && (
        <details>
          <summary className={classes.summary}>Stack</summary>
          <ScrollText className={classes.stack!} text={stack} label="Stack of the error" />
        </details>
      )}
      <Group gap="md">
        <TabLink search={{ tab: 'logs', attempt: String(error.attempt) }}>Log of attempt {error.attempt}</TabLink>
        <FilterLink filter={{ status: 'FAILED', model: run.model, error_class: error.class }}>
          Runs that failed alike
        </FilterLink>
        <CopyButton
          label="Copy the error"
          text={[`${error.class}: ${error.message}`, stack].filter(Boolean).join('\n')}
        />
      </Group>
    </Notice>
  )
}

function ScrollText({ className, text, label }: { className: string; text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    // biome-ignore lint/a11y/useSemanticElements: it is a text that is kept as it is
    <pre className={className} tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  )
}
