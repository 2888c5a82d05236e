/** Models that do nothing, as functions of a worker: in the worker itself, and in a child process. */

import { z } from 'zod'
import { model } from '../../src/model/model.ts'

const parameters = z.object({ n: z.int() })

export const inline = model({ name: 'noop_inline', executor: 'inline', parameters, run: () => null })

export const inChild = model({ name: 'noop_process', executor: 'process', parameters, run: () => null })
