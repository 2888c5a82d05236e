/**
 * A chart over time: its caption, a legend that tells the values where the crosshair is, and the same numbers as a table for those
 * who cannot or do not want to read a drawing.
 */

import { useComputedColorScheme } from '@mantine/core'
import { memo, useCallback, useId, useState } from 'react'
import classes from './chart.module.css'
import { TONES } from './chart-colours.ts'
import { ChartPlot } from './chart-plot.tsx'
import { bucketLabel, type ChartLook, startLabel } from './chart-series.ts'

type ChartProps = {
  caption: string
  look: ChartLook
  /** What the values without a crosshair are of, such as `last 24 hours`. */
  wholeLabel: string
  isTable: boolean
  onTable: (isTable: boolean) => void
}

export const Chart = memo(function Chart({ caption, look, wholeLabel, isTable, onTable }: ChartProps) {
  const captionId = useId()
  const [pointed, setPointed] = useState<number | null>(null)
  const other = isTable ? 'chart' : 'table'
  const start = pointed === null ? undefined : look.starts[pointed]
  const when = start === undefined ? wholeLabel : bucketLabel(start, look.widthSeconds)
  const onPoint = useCallback((index: number | null) => setPointed(index), [])
  return (
    <figure className={classes.figure} aria-labelledby={captionId}>
      <div className={classes.head}>
        <figcaption id={captionId} className={classes.caption}>
          {caption}
        </figcaption>
        {!isTable && <span className={classes.when}>{when}</span>}
        <button
          type="button"
          className={classes.toggle}
          aria-label={`Show as ${other}: ${caption}`}
          onClick={() => onTable(!isTable)}
        >
          {other}
        </button>
      </div>
      {isTable ? (
        <ChartTable caption={caption} look={look} />
      ) : (
        <>
          <Legend look={look} pointed={start === undefined ? null : pointed} />
          <ChartPlot label={`${caption}, drawn over time; the table has the numbers`} look={look} onPoint={onPoint} />
        </>
      )}
    </figure>
  )
})

function Legend({ look, pointed }: { look: ChartLook; pointed: number | null }) {
  const scheme = useComputedColorScheme('light')
  return (
    <div className={classes.legend}>
      {look.series.map(({ name, tone, values, whole }) => (
        <span key={name} className={classes.entry}>
          <span className={classes.swatch} style={{ background: TONES[scheme][tone] }} aria-hidden />
          {name} <b>{written(pointed === null ? whole : (values[pointed] ?? null), look.format)}</b>
        </span>
      ))}
    </div>
  )
}

function ChartTable({ caption, look: { starts, widthSeconds, series, format } }: { caption: string; look: ChartLook }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section className={classes.numbers} tabIndex={0} aria-label={`${caption}: numbers`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" data-number>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {starts
            .map((start, index) => (
              <tr key={start}>
                <th scope="row">
                  <time dateTime={start} title={bucketLabel(start, widthSeconds)}>
                    {startLabel(start)}
                  </time>
                </th>
                {series.map(({ name, values }) => (
                  <td key={name} data-number>
                    {written(values[index] ?? null, format)}
                  </td>
                ))}
              </tr>
            ))
            .reverse()}
        </tbody>
      </table>
    </section>
  )
}

function written(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value)
}
