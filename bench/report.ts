/** The results as tables for people or as JSON for programs. */

import { type Measured, rounded } from './bench.ts'
import { type Mark, marksOf, otherRatiosOf } from './marks.ts'
import { type Spread, spread } from './statistics.ts'

export type Surroundings = { machine: string; postgres: Record<string, string>; contenders: Record<string, string> }

export function jsonReport(surroundings: Surroundings, measured: Measured[]): string {
  const report = { ...surroundings, measured, marks: marksOf(measured), ratios: otherRatiosOf(measured) }
  return JSON.stringify(report, null, 2)
}

export function textReport(surroundings: Surroundings, measured: Measured[]): string {
  const { machine, postgres, contenders } = surroundings
  const settings = Object.entries(postgres).map(([name, value]) => `${name} ${value}`)
  return [
    `${machine}\nPostgres: ${settings.join(', ')}`,
    Object.entries(contenders)
      .map(([name, about]) => `${name}: ${about}`)
      .join('\n'),
    table(['measurement', '', 'median', 'min–max', 'holdfast ÷ it'], measured.flatMap(rowsOf)),
    table(['mark', 'against', 'wanted', 'got', 'min–max', ''], marksOf(measured).map(rowOfMark)),
  ].join('\n\n')
}

function rowsOf(measured: Measured): string[][] {
  const ratioRows = otherRatiosOf([measured])
  return Object.entries(measured.series).map(([name, values], index) => {
    const ratio = ratioRows.find(({ against }) => against === name)?.ratio
    const { median, min, max } = spread(values)
    const title = index === 0 ? `${measured.title} (${measured.unit})` : ''
    return [
      title,
      name,
      rounded(median),
      range({ median, min, max }),
      ratio && measured.series.holdfast ? ratioText(ratio) : '',
    ]
  })
}

function rowOfMark({ what, against, wanted, ratio, reached }: Mark): string[] {
  return [what, against, wanted, rounded(ratio.median), range(ratio), reached ? 'reached' : 'NOT REACHED']
}

function ratioText(ratio: Spread): string {
  return `${rounded(ratio.median)} (${range(ratio)})`
}

function range({ min, max }: Spread): string {
  return `${rounded(min)}–${rounded(max)}`
}

function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1)].join('\n')
}
