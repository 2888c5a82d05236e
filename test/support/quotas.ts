/** Rules of quotas in few words. */

import { LIMITS, type QuotaAction, type QuotaLimits, type QuotaName } from '../../src/run/quota.ts'
import type { StoredRule } from '../../src/store/ports/quotas.ts'
import type { Store } from '../../src/store/store.ts'

export const NO_LIMITS = Object.fromEntries(LIMITS.map((limit) => [limit, null])) as QuotaLimits

export type RuleOptions = Partial<QuotaName & QuotaLimits & { action: QuotaAction }>

/** Of everyone and all models unless told otherwise. */
export function putRule({ quotas }: Pick<Store, 'quotas'>, options: RuleOptions): Promise<StoredRule> {
  const { owner = '*', model = '', together = false, action = 'block', ...limits } = options
  return quotas.put({ owner, model, together }, { ...NO_LIMITS, ...limits }, action)
}
