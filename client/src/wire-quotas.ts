/** Quotas and reservations as they travel. A test holds these shapes equal to those of the service. */

export type QuotaAction = 'block' | 'warn' | 'require_approval'

export type QuotaLimit = 'max_concurrent' | 'runs_per_hour' | 'runs_per_day' | 'cost_per_day' | 'cost_per_month'

/** What a rule is found by. */
export type QuotaRuleName = {
  /** `*` for everyone. */
  owner: string
  /** Null for all models. */
  model: string | null
  /** Counted over all owners, not for each of them. */
  together: boolean
}

/** A limit that is null is none. */
export type QuotaLimits = {
  max_concurrent: number | null
  runs_per_hour: number | null
  runs_per_day: number | null
  cost_per_day: number | null
  cost_per_month: number | null
}

export type QuotaRule = QuotaRuleName &
  QuotaLimits & {
    action: QuotaAction
    created_at: string
    updated_at: string
    /** Since when runs of before the rule count as well; null while transactions of before are being waited for. */
    counted_at: string | null
    links: { self: string }
  }

/** How much of a limit is used, and by what. */
export type QuotaUsage = {
  rule: QuotaRuleName
  limit: QuotaLimit
  maximum: number
  used: number
  /** Of all that apply to the same thing, the one that leaves least. */
  binds: boolean
  action: QuotaAction
  sources: {
    /** Of a number of runs: runs, and reservations that nobody has used yet. */
    runs: number | null
    reservations: number | null
    /** Of an amount: what runs that have not ended may cost and what is reserved, and what the others did cost. */
    held: number | null
    settled: number | null
  }
}

/** The rule of exactly this name, null when there is none, and every limit that applies. */
export type Quota = QuotaRuleName & QuotaLimits & { action: QuotaAction | null; usage: QuotaUsage[] }

export type QuotaBody = {
  max_concurrent?: number | null | undefined
  runs_per_hour?: number | null | undefined
  runs_per_day?: number | null | undefined
  cost_per_day?: number | null | undefined
  cost_per_month?: number | null | undefined
  action?: QuotaAction | null | undefined
}

export type ReservationState = 'ACTIVE' | 'CONSUMED' | 'RELEASED' | 'EXPIRED'

export type Reservation = {
  reservation_id: string
  owner: string
  model: string | null
  state: ReservationState
  cost: number | null
  created_at: string
  expires_at: string
  ended_at: string | null
  run_id: string | null
  links: { self: string; run: string | null }
}

/** With the limits that are nearly used up, in words. */
export type NewReservation = Reservation & { quota_warnings: string[]; cost_limit_warning: string | null }

export type ReservationBody = {
  ttl_seconds?: number | null | undefined
  cost?: number | null | undefined
  model?: string | null | undefined
}
