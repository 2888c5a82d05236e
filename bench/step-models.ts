/** Models that do nothing: at once, in one step, and in five, in the worker itself and in a child process. */

import { z } from 'zod'
import { model } from '../src/model/model.ts'

const parameters = z.object({ n: z.int() })
const nothing = () => null

function models(executor: 'inline' | 'process') {
  const named = (kind: string) => ({ name: `${kind}_${executor}`, executor, parameters })
  return [
    model({ ...named('plain'), run: nothing }),
    model(named('one_step')).step('one', nothing),
    model(named('five_steps'))
      .step('one', nothing)
      .step('two', nothing)
      .step('three', nothing)
      .step('four', nothing)
      .step('five', nothing),
  ] as const
}

export const [plainInline, oneStepInline, fiveStepsInline] = models('inline')
export const [plainProcess, oneStepProcess, fiveStepsProcess] = models('process')
