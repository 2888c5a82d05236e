/** The model every run of the benchmark is of. It does nothing but tell its process that it began. */

import { z } from 'zod'
import { model } from '../src/model/model.ts'

export const listener = { onStart: (_n: number): void => {} }

export const noop = model({
  name: 'noop',
  parameters: z.object({ n: z.int() }),
  executor: 'inline',
  run: ({ n }) => listener.onStart(n),
})
