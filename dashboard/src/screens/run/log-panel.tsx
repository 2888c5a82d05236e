/** What the attempts of a run printed, live: searched, wrapped, followed to its end, and saved whole. */

import type { Run } from '@holdfast/client'
import { Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatNumber } from '../../parts/format.ts'
import { SearchIcon } from '../../parts/icons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { breathe, sliceClock } from '../../parts/slices.ts'
import { sayError } from '../../shell/notices.tsx'
import classes from './log.module.css'
import { LogBox } from './log-box.tsx'
import { useLogMatches } from './log-search.ts'
import { type LogState, useLog } from './log-source.ts'

export default function LogPanel({ run, attempt, onAttempt }: LogPanelProps) {
  const [again, setAgain] = useState(0)
  const log = useLog(run.run_id, attempt, again)
  const [text, setText] = useState('')
  const [isOnly, setOnly] = useState(false)
  const [isWrapped, setWrapped] = useState(false)
  const matches = useLogMatches(log, text)
  const { lines, phase, error } = log
  if (error) return <ErrorNotice error={error} onRetry={() => setAgain(again + 1)} />
  return (
    <div className={classes.log}>
      <div className={classes.bar}>
        <AttemptChoice run={run} attempt={attempt} onAttempt={onAttempt} />
        <TextInput
          size="xs"
          className={classes.search}
          aria-label="Search in the log"
          placeholder="Search"
          leftSection={<SearchIcon size={14} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Escape' && setText('')}
        />
        {text !== '' && (
          <Checkbox
            size="xs"
            label="Only matching"
            checked={isOnly}
            onChange={(event) => setOnly(event.currentTarget.checked)}
          />
        )}
        <Checkbox
          size="xs"
          label="Wrap"
          checked={isWrapped}
          onChange={(event) => setWrapped(event.currentTarget.checked)}
        />
        <SaveLog runId={run.run_id} attempt={attempt} />
        <span className={classes.state}>{stateWords(log)}</span>
      </div>
      {lines.leftOut > 0 && (
        <div className={classes.left} role="status">
          {formatNumber(lines.leftOut)} older lines were left out to keep this page quick. Download the log to have all
          of it.
        </div>
      )}
      {lines.count === 0 ? (
        <Nothing phase={phase} />
      ) : (
        <LogBox
          log={log}
          matches={text === '' ? null : matches}
          text={text}
          isOnly={isOnly && text !== ''}
          isWrapped={isWrapped}
          withAttempts={attempt === null && run.attempt_count > 1}
        />
      )}
    </div>
  )
}

type LogPanelProps = { run: Run; attempt: number | null; onAttempt: (attempt: number | null) => void }

function AttemptChoice({ run, attempt, onAttempt }: LogPanelProps) {
  const numbers = (run.attempts ?? []).map((one) => one.attempt)
  const data = [
    { value: '', label: 'All attempts' },
    ...numbers.map((number) => ({ value: String(number), label: `Attempt ${number}` })),
  ]
  return (
    <NativeSelect
      size="xs"
      aria-label="Attempt"
      data={data}
      value={attempt !== null && numbers.includes(attempt) ? String(attempt) : ''}
      onChange={(event) => onAttempt(event.currentTarget.value === '' ? null : Number(event.currentTarget.value))}
    />
  )
}

/** From the record and not from the page, which may not have all of it. */
function SaveLog({ runId, attempt }: { runId: string; attempt: number | null }) {
  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const texts: string[] = []
      const slice = sliceClock()
      for await (const { text } of client.logs(runId, attempt === null ? {} : { attempt })) {
        texts.push(text)
        if (slice.isOver()) await breathe().then(slice.restart)
      }
      saveFile(`log-${runId}${attempt === null ? '' : `-attempt-${attempt}`}.txt`, texts, 'text/plain')
    },
    onError: sayError,
  })
  return (
    <Button size="compact-xs" variant="default" loading={isPending} onClick={() => mutate()}>
      Download
    </Button>
  )
}

function Nothing({ phase }: { phase: LogState['phase'] }) {
  if (phase === 'connecting') return <Loading label="Loading the log" />
  if (phase === 'over') return <EmptyState title="Nothing was printed, or its log is no longer kept." />
  return <EmptyState title="Nothing has been printed yet.">What is printed appears here by itself.</EmptyState>
}

function stateWords({ lines, phase }: LogState): string {
  const words = { connecting: 'loading', live: 'live', away: 'reconnecting', over: 'complete' }
  return `${formatNumber(lines.count + lines.leftOut)} lines · ${words[phase]}`
}
