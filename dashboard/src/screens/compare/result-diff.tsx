/** The results of the two runs, or why they are not compared. */

import type { Run } from '@holdfast/client'
import { Text } from '@mantine/core'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatBytes } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { JsonDiff } from './json-diff.tsx'
import { RESULT_BYTES_MAX, type ReadResult, useResult } from './run-queries.ts'
import { noResultWords } from './verdict.ts'

export function ResultDiff({ a, b, showsAll }: { a: Run; b: Run; showsAll: boolean }) {
  const areBoth = a.result_hash !== null && b.result_hash !== null
  const isSame = areBoth && a.result_hash === b.result_hash
  const isWanted = areBoth && (!isSame || showsAll)
  const [ofA, ofB] = [useResult(a, isWanted), useResult(b, isWanted)]
  if (!areBoth) {
    const reasons = [a, b].map((run, index) => `Run ${'AB'[index]} ${noResultWords(run.status)}.`)
    return <Note>{reasons.join(' ')}</Note>
  }
  if (!isWanted) {
    return <Note>The results are the same, but for what the model declares volatile. Show everything to see them.</Note>
  }
  const error = ofA.error ?? ofB.error
  if (error) return <ErrorNotice error={error} onRetry={() => void Promise.all([ofA.refetch(), ofB.refetch()])} />
  if (!ofA.data || !ofB.data) return <Loading label="Loading the results" />
  const large = tooLarge(ofA.data, ofB.data)
  if (large) return <Note>{large}</Note>
  const whenNone = 'The results are the same.'
  return <JsonDiff label="Result" a={ofA.data.value} b={ofB.data.value} showsAll={showsAll} whenNone={whenNone} />
}

function tooLarge(a: ReadResult, b: ReadResult): string | null {
  const bytes = Math.max(a.tooLargeBytes ?? 0, b.tooLargeBytes ?? 0)
  if (bytes === 0) return null
  return `A result has ${formatBytes(bytes)}. Up to ${formatBytes(RESULT_BYTES_MAX)} are compared here; open each run to download its result.`
}

function Note({ children }: { children: string }) {
  return (
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  )
}
