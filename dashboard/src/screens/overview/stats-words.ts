/** Rates and parts of a whole, in words. */

import { formatNumber } from '../../parts/format.ts'

/** Runs per second, minute or hour, whichever can be read: `12/s`, `4.5/min`. */
export function formatRate(perSecond: number): string {
  if (perSecond === 0) return '0/s'
  if (perSecond >= 1) return `${short(perSecond)}/s`
  if (perSecond * 60 >= 1) return `${short(perSecond * 60)}/min`
  return `${short(perSecond * 3_600)}/h`
}

export function formatRatio(ratio: number): string {
  const percent = ratio * 100
  if (percent > 0 && percent < 0.01) return '< 0.01 %'
  return `${short(percent)} %`
}

/** Three digits that matter. */
function short(value: number): string {
  return formatNumber(value >= 100 ? Math.round(value) : Number(value.toPrecision(3)))
}
