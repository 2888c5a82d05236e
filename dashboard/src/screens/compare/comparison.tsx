/** Two runs that are there: what the hashes say, and then part by part. */

import type { Run } from '@holdfast/client'
import { Alert, Text } from '@mantine/core'
import classes from './compare.module.css'
import { factRows } from './facts.ts'
import { FactsTable } from './facts-table.tsx'
import { JsonDiff } from './json-diff.tsx'
import { ResultDiff } from './result-diff.tsx'
import { RunHead } from './run-head.tsx'
import { Section } from './section.tsx'
import { StepsTable } from './steps-table.tsx'
import { verdictOf } from './verdict.ts'

const TONES = { same: 'teal', notice: 'yellow', plain: 'gray' }

export function Comparison({ a, b, showsAll }: { a: Run; b: Run; showsAll: boolean }) {
  const { text, detail, tone } = verdictOf(a, b)
  const rows = factRows(a, b).filter(({ isSame, isIncidental }) => showsAll || !(isSame || isIncidental))
  const kin = kinship(a, b)
  return (
    <>
      <div className={classes.heads}>
        <RunHead name="A" run={a} />
        <RunHead name="B" run={b} />
      </div>
      <Alert color={TONES[tone]} variant="light" title={text} my="md" role="status">
        {[detail, kin].filter(Boolean).join(' ') || null}
      </Alert>
      <Section title="Facts">
        {rows.length > 0 ? (
          <FactsTable rows={rows} />
        ) : (
          <Text size="sm" c="dimmed">
            No differences but for when they ran.
          </Text>
        )}
      </Section>
      <StepsTable aId={a.run_id} bId={b.run_id} showsAll={showsAll} />
      <Section title="Parameters">
        <JsonDiff
          label="Parameters"
          a={a.parameters}
          b={b.parameters}
          showsAll={showsAll}
          whenNone={parametersWords(a, b)}
        />
      </Section>
      <Section title="Result">
        <ResultDiff a={a} b={b} showsAll={showsAll} />
      </Section>
    </>
  )
}

function parametersWords(a: Run, b: Run): string {
  if (a.payload_hash === b.payload_hash) return 'The parameters are the same.'
  if (a.model !== b.model || a.model_version !== b.model_version) {
    return 'The parameters that can be seen are the same; the models or their versions differ.'
  }
  return 'The parameters that can be seen are the same. The inputs differ, so the difference is in a hidden value.'
}

function kinship(a: Run, b: Run): string | null {
  if (b.retry_of === a.run_id) return 'B is a retry of A.'
  if (a.retry_of === b.run_id) return 'A is a retry of B.'
  return null
}
