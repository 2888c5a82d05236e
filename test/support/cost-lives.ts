/** What may happen to runs with a cost, at random: rules of every shape, and the steps of lives. Amounts are whole cents. */

import fc from 'fast-check'
import type { NotedRule, Policy } from './cost-notes.ts'

export type SettledKind = 'succeed' | 'fail' | 'cancel' | 'retry' | 'release'

export type Operation =
  | {
      do: 'submit'
      owner: number
      model: number
      /** Several are sent in one batch. */
      cents: number[]
      /** The first asks for just what is left of the limits, or for a cent more, in place of its own amount. */
      aim: 'any' | 'what is left' | 'a cent more'
      onFailure: Policy
      onCancel: Policy
      hasRate: boolean
      /** One of the reservations, counted from the newest; for the owner and model it is for, unless it is a multiple of four. */
      using: number | null
      /** `cut`: the first transaction ends before its commit. `answer lost`: it is all sent a second time. */
      trouble: 'none' | 'cut' | 'answer lost'
    }
  | { do: 'reserve'; owner: number; model: number | null; cents: number; hours: number }
  | { do: 'release'; which: number }
  | { do: 'claim' }
  | { do: 'crash' }
  | { do: 'come late' }
  | { do: 'look' }
  | { do: 'janitor'; isCut: boolean }
  | { do: 'settle'; kind: SettledKind; cents: number | null; isTold: boolean; isRepeated: boolean }
  | { do: 'cancel'; which: number }
  | { do: 'wait'; hours: number }

export type OperationOf<Kind> = Extract<Operation, { do: Kind }>

const policy = fc.constantFrom<Policy>('actual', 'release')
const either = fc.nat(1)
const which = fc.nat(20)
const named = <Name extends Operation['do']>(...names: Name[]) => fc.constantFrom(...names)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: named('submit'),
      owner: either,
      model: either,
      cents: fc.array(fc.nat(500), { minLength: 1, maxLength: 3 }),
      aim: fc.constantFrom('any', 'any', 'what is left', 'a cent more'),
      onFailure: policy,
      onCancel: policy,
      hasRate: fc.boolean(),
      using: fc.option(which, { freq: 2 }),
      trouble: fc.constantFrom('none', 'none', 'cut', 'answer lost'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: named('reserve'),
      owner: either,
      model: fc.option(either),
      cents: fc.nat(500),
      hours: fc.constantFrom(1, 48),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: named('claim') }) },
  { weight: 1, arbitrary: fc.record({ do: named('crash', 'come late', 'look') }) },
  { weight: 1, arbitrary: fc.record({ do: named('janitor'), isCut: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: named('settle'),
      kind: fc.constantFrom<SettledKind>('succeed', 'fail', 'cancel', 'retry', 'release'),
      cents: fc.option(fc.nat(700), { freq: 3 }),
      isTold: fc.boolean(),
      isRepeated: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: named('cancel', 'cancel', 'release'), which }) },
  { weight: 1, arbitrary: fc.record({ do: named('wait'), hours: fc.constantFrom(1, 9, 24, 24 * 20) }) },
)

export const operations = fc.array(operation, { minLength: 20, maxLength: 50 })

/** Every shape there is: of one owner, of each owner and of everyone together, over all models and within one. */
export function rules(owner: string, models: readonly string[]): fc.Arbitrary<NotedRule[]> {
  const shapes = [owner, '*'].flatMap((of) => ['', ...models].map((model) => ({ owner: of, model, together: false })))
  const together = ['', ...models].map((model) => ({ owner: '*', model, together: true }))
  const limited = fc.record({
    shape: fc.constantFrom(...shapes, ...together),
    day: fc.option(fc.integer({ min: 200, max: 1_500 }), { freq: 4 }),
    month: fc.option(fc.integer({ min: 500, max: 3_000 })),
    action: fc.constantFrom(
      'block' as const,
      'block' as const,
      'block' as const,
      'warn' as const,
      'require_approval' as const,
    ),
  })
  const chosen = fc.uniqueArray(limited, {
    minLength: 1,
    maxLength: 5,
    selector: ({ shape }) => JSON.stringify(shape),
  })
  return chosen.map((all) => all.map(({ shape, ...limits }) => ({ ...shape, ...limits })))
}
