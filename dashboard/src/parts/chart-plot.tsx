/**
 * The canvas of a chart: uPlot, made once and fed from then on. It is made anew only when its series or the colours change, so new
 * numbers do not flicker.
 */

import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import classes from './chart.module.css'
import { AXES, type ChartScheme, DASHES, TONES } from './chart-colours.ts'
import { type ChartLook, type ChartSeries, heightOf, lonePoints, middles, stackUp, tickLabel } from './chart-series.ts'

const PLOT_HEIGHT = 164

const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'

type Drawn = { look: ChartLook; scheme: ChartScheme; onPoint: (index: number | null) => void }

export function ChartPlot({ label, look, onPoint }: { label: string } & Pick<Drawn, 'look' | 'onPoint'>) {
  const scheme = useComputedColorScheme('light')
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const latest = useRef<Drawn>({ look, scheme, onPoint })
  useEffect(() => {
    latest.current = { look, scheme, onPoint }
  })

  const shape = `${scheme} ${look.kind} ${look.series.map(({ name, tone }) => `${name}/${tone}`).join()}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` stands for all that a plot is made of but its numbers
  useEffect(() => {
    const element = box.current!
    const made = new uPlot(optionsOf(latest, element.clientWidth), dataOf(latest.current.look), element)
    plot.current = made
    const resized = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height: PLOT_HEIGHT })
    })
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [shape])

  useEffect(() => {
    plot.current?.setData(dataOf(look))
  }, [look])

  return <div ref={box} className={classes.plot} role="img" aria-label={label} />
}

/** Of a stack the highest comes first, so that those below it are drawn over it. */
function dataOf({ kind, series, starts, widthSeconds }: ChartLook): uPlot.AlignedData {
  const values = series.map((one) => one.values)
  return [middles(starts, widthSeconds), ...(kind === 'bars' ? stackUp(values).reverse() : values)]
}

function optionsOf(latest: { current: Drawn }, width: number): uPlot.Options {
  const { look, scheme } = latest.current
  const { text, grid } = AXES[scheme]
  const axis = { stroke: text, font: FONT, grid: { stroke: grid, width: 1 }, ticks: { show: false } }
  const rangeOf = ({ starts, widthSeconds }: ChartLook): [number, number] => {
    const from = Date.parse(starts[0] ?? '') / 1_000 || 0
    return [from, from + starts.length * widthSeconds || 1]
  }
  const drawn = look.kind === 'bars' ? look.series.toReversed() : look.series
  return {
    width,
    height: PLOT_HEIGHT,
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { show: look.kind === 'lines', size: 7 },
      // All charts of a screen show the same moment.
      sync: { key: 'charts' },
    },
    scales: {
      x: { range: () => rangeOf(latest.current.look) },
      y: { range: (_plot, _lowest, highest) => heightOf(highest) },
    },
    axes: [
      { ...axis, size: 26, gap: 6, space: 64, values: (_plot, splits) => splits.map((at) => tickLabel(at)) },
      {
        ...axis,
        size: 54,
        gap: 6,
        space: 30,
        ...(look.steps && { incrs: look.steps }),
        values: (_plot, splits) => splits.map(latest.current.look.format),
      },
    ],
    series: [{}, ...drawn.map((one) => seriesOf(one, look.kind, scheme))],
    hooks: { setCursor: [({ cursor }) => latest.current.onPoint(cursor.idx ?? null)] },
  }
}

function seriesOf({ tone }: ChartSeries, kind: ChartLook['kind'], scheme: ChartScheme): uPlot.Series {
  const colour = TONES[scheme][tone]
  if (kind === 'bars') {
    const paths = uPlot.paths.bars!({ size: [0.72, 36] })
    return { fill: colour, stroke: colour, width: 0, paths, points: { show: false } }
  }
  return {
    stroke: colour,
    width: 1.5,
    dash: DASHES[tone],
    points: {
      show: true,
      size: 5,
      fill: colour,
      filter: (plot, index) => lonePoints(plot.data[index] as (number | null)[]),
    },
  }
}
