/**
 * A store whose process dies at a call: the call with that number, counted over everything it is asked or over one verb, is either not sent or
 * sent and never answered, and nothing after it reaches the database. Whoever awaits it waits for ever, as a dead process does.
 */

import type { Store } from '../../src/store/store.ts'

export type DyingStore = { store: Store; calls(): string[]; died: Promise<void> }

export function dyingStore(store: Store, at: { call: number; when: 'before' | 'after'; of?: string }): DyingStore {
  const calls: string[] = []
  let counted = 0
  const end = Promise.withResolvers<void>()
  const never = new Promise<never>(() => {})

  function wrap<T extends object>(target: T, path: string): T {
    return new Proxy(target, {
      get(inner, name) {
        const value = Reflect.get(inner, name)
        const called = `${path}${String(name)}`
        if (typeof value === 'object' && value !== null) return wrap(value, `${called}.`)
        if (typeof value !== 'function') return value
        return async (...given: unknown[]) => {
          calls.push(called)
          const isCounted = at.of === undefined || at.of === called
          if (isCounted) counted += 1
          if (counted < at.call) return value.apply(inner, given)
          if (isCounted && counted === at.call && at.when === 'after') await value.apply(inner, given)
          end.resolve()
          return never
        }
      },
    })
  }
  return { store: wrap(store, ''), calls: () => calls, died: end.promise }
}
