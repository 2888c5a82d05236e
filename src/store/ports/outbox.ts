/** Facts that wait to be spread, and the one transaction that turns them into deliveries. */

import type { NewFact } from '../../run/fact.ts'
import type { Channel } from './receivers.ts'

export type { DocumentOf, Fact, MailData, NewFact, SpreadSettings } from '../../run/fact.ts'

/** `broken`: facts that could not be spread for a reason of their own; they are set aside, with the reason in their data. */
export type Spread = { facts: number; deliveries: number; isMore: boolean; broken?: number }

export interface Outbox {
  /**
   * Takes facts that nobody has spread, oldest first, and makes a delivery for each receiver that wants one, counts
   * documents, makes progress facts at each mark, joins failures into their mail and puts batches on watch: all in one
   * transaction with `spread_at`. Several relays may do it at once; each fact is spread by one.
   */
  spread(limit: number): Promise<Spread>
  /**
   * Looks at batches in which nothing has come for a while; a finished one becomes the fact batch.completed. How many
   * were looked at.
   */
  watchBatches(limit: number): Promise<number>
  /** Facts that are no events of a run, such as quota facts; a fact that is there already is left as it is. */
  announce(facts: readonly NewFact[]): Promise<void>
  /**
   * The oldest fact that is not spread, and the oldest delivery that is due, in seconds; and how many wait, counted up
   * to a bound.
   */
  backlog(): Promise<{
    unspread: number
    oldestUnspreadSeconds: number
    byChannel: { channel: Channel; waiting: number; oldestDueSeconds: number }[]
  }>
  /**
   * Spread facts and finished deliveries older than this, a batch at a time; true while there are more. Dead ones are
   * kept as long.
   */
  forget(olderThanDays: number): Promise<boolean>
}
