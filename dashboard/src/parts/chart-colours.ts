/** The colours of charts. A canvas knows no custom properties, so they are said here for both schemes; each is readable on its ground. */

import type { Tone } from './chart-series.ts'

export type ChartScheme = 'light' | 'dark'

export const TONES: Record<ChartScheme, Record<Tone, string>> = {
  light: {
    good: '#2b9a5c',
    bad: '#d33a3a',
    quiet: '#8a949c',
    first: '#0a7d5c',
    second: '#1f6fc9',
    third: '#9b4fc9',
  },
  dark: {
    good: '#46b878',
    bad: '#f26d6d',
    quiet: '#7f8a93',
    first: '#35cfa0',
    second: '#6db3ff',
    third: '#d0a2f2',
  },
}

export const AXES: Record<ChartScheme, { text: string; grid: string }> = {
  light: { text: '#5c6770', grid: '#e8ecee' },
  dark: { text: '#a6b0b8', grid: '#34383d' },
}

/** A second sign beside the colour. */
export const DASHES: Record<Tone, number[]> = {
  good: [],
  bad: [],
  quiet: [2, 3],
  first: [],
  second: [6, 3],
  third: [2, 3],
}
