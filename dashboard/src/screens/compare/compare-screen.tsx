/** Two runs side by side: `/compare?a=ID&b=ID`, what differs by default and everything with `all=1`. */

import { Button, Checkbox } from '@mantine/core'
import { about, useLive } from '../../live/use-live.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import { useShortcut } from '../../shell/shortcuts.tsx'
import classes from './compare.module.css'
import { Comparison } from './comparison.tsx'
import { RunPicker } from './run-picker.tsx'
import { useRun } from './run-queries.ts'

export default function CompareScreen() {
  const { search, change } = useAddress()
  const [aId, bId] = [textIn(search, 'a') ?? null, textIn(search, 'b') ?? null]
  const showsAll = textIn(search, 'all') === '1'
  const [a, b] = [useRun(aId), useRun(bId)]
  const swap = () => change({ a: bId ?? '', b: aId ?? '' })
  useShortcut('x', 'Swap the two runs', swap)
  useShortcut('e', 'Show everything, or only differences', () => change({ all: showsAll ? '' : '1' }))
  useLive(
    [
      ['run', aId],
      ['run', bId],
    ],
    {
      concerns: (news) => [aId, bId].some((id) => id !== null && about(id)(news)),
    },
  )
  return (
    <>
      <PageTitle title="Compare two runs" tab="Compare" />
      <div className={classes.pick}>
        <RunPicker
          label="Run A"
          runId={aId}
          sameModelAs={b.data?.model ?? null}
          onRun={(id) => change({ a: id }, true)}
        />
        <Button variant="default" size="sm" onClick={swap} disabled={aId === null && bId === null}>
          Swap
        </Button>
        <RunPicker
          label="Run B"
          runId={bId}
          sameModelAs={a.data?.model ?? null}
          onRun={(id) => change({ b: id }, true)}
        />
        <Checkbox
          className={classes.toggle}
          size="sm"
          label="Show everything"
          checked={showsAll}
          onChange={({ currentTarget }) => change({ all: currentTarget.checked ? '1' : '' })}
        />
      </div>
      {a.error && <ErrorNotice error={a.error} onRetry={() => void a.refetch()} />}
      {b.error && <ErrorNotice error={b.error} onRetry={() => void b.refetch()} />}
      <Found aId={aId} bId={bId} a={a} b={b} showsAll={showsAll} />
    </>
  )
}

type Read = ReturnType<typeof useRun>

function Found({ aId, bId, a, b, showsAll }: FoundProps) {
  if (aId === null || bId === null) {
    return (
      <EmptyState title={aId === null && bId === null ? 'Choose two runs' : 'Choose the other run'}>
        Type an id, or a part of a model’s name or of a title to find one of the latest runs. What differs between the
        two is shown: status, times, parameters and results.
      </EmptyState>
    )
  }
  if (aId === bId) {
    return <EmptyState title="A and B are the same run">Choose another run for one of them.</EmptyState>
  }
  if (a.error || b.error) return null
  if (!a.data || !b.data) return <Loading label="Loading the runs" />
  return <Comparison a={a.data} b={b.data} showsAll={showsAll} />
}

type FoundProps = { aId: string | null; bId: string | null; a: Read; b: Read; showsAll: boolean }
