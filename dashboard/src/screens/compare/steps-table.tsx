/** How long each step took in either run, as bars on one scale. */

import { Text } from '@mantine/core'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatDuration } from '../../parts/format.ts'
import { TableBox } from '../../parts/table-box.tsx'
import classes from './compare.module.css'
import { useSteps } from './run-queries.ts'
import { Section } from './section.tsx'
import { type StepPair, type StepSide, stepPairs } from './step-pairs.ts'

export function StepsTable({ aId, bId, showsAll }: { aId: string; bId: string; showsAll: boolean }) {
  const [a, b] = [useSteps(aId), useSteps(bId)]
  const error = a.error ?? b.error
  if (error) return <ErrorNotice error={error} />
  if (!a.data || !b.data) return null
  const pairs = stepPairs(a.data, b.data)
  if (pairs.length === 0) return null
  const shown = showsAll ? pairs : pairs.filter((pair) => !isSame(pair))
  return (
    <Section title="Steps">
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          All {pairs.length} steps took about as long.
        </Text>
      ) : (
        <TableBox label="Steps" columns={['Step', 'A', 'B', 'Change']}>
          <tbody>
            {shown.map((pair) => (
              <tr key={pair.name}>
                <th scope="row" className={classes.name}>
                  {pair.name}
                </th>
                <td className={classes.barCell}>
                  <Side side={pair.a} part={pair.aPart} name="a" />
                </td>
                <td className={classes.barCell}>
                  <Side side={pair.b} part={pair.bPart} name="b" />
                </td>
                <td className={classes.change}>{isSame(pair) ? 'same' : pair.change}</td>
              </tr>
            ))}
          </tbody>
        </TableBox>
      )}
    </Section>
  )
}

function Side({ side, part, name }: { side: StepSide | null; part: number; name: 'a' | 'b' }) {
  if (!side) return <span>–</span>
  const notes = [
    side.seconds === null ? side.state : formatDuration(side.seconds),
    side.seconds !== null && side.state !== 'SUCCEEDED' && side.state,
    side.tries > 1 && `${side.tries} tries`,
    side.isTakenOver && 'taken over',
  ]
  return (
    <>
      <div>{notes.filter(Boolean).join(' · ')}</div>
      <div className={classes.track} aria-hidden>
        <div className={classes.bar} data-side={name} style={{ width: `${Math.max(part * 100, part > 0 ? 1 : 0)}%` }} />
      </div>
    </>
  )
}

/** To the eye: the same state, tries and words. */
function isSame({ a, b }: StepPair): boolean {
  const words = (side: StepSide | null) =>
    side && [side.state, side.tries, side.seconds && formatDuration(side.seconds)]
  return JSON.stringify(words(a)) === JSON.stringify(words(b))
}
