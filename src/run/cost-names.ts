/** The cost of a model as files and requests write it, in snake case, and as code does. */

import type { CostDefinition, CostPolicy } from './cost.ts'

/** What is null is not given. */
export type CostInput = {
  estimate: number | string
  rate_per_second?: number | null | undefined
  on_failure?: CostPolicy | null | undefined
  on_cancel?: CostPolicy | null | undefined
  currency?: string | null | undefined
}

const NAMES: Record<string, string> = {
  ratePerSecond: 'rate_per_second',
  onFailure: 'on_failure',
  onCancel: 'on_cancel',
}

export function costFrom({ estimate, rate_per_second, on_failure, on_cancel, currency }: CostInput): CostDefinition {
  return {
    estimate,
    ...(typeof rate_per_second === 'number' && { ratePerSecond: rate_per_second }),
    ...(on_failure && { onFailure: on_failure }),
    ...(on_cancel && { onCancel: on_cancel }),
    ...(currency && { currency }),
  }
}

/** Where a problem of `costProblems` is. */
export function costPointer(at: string): string {
  return at === '' ? '/cost' : `/cost/${NAMES[at] ?? at}`
}
