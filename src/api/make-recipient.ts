/** Makes mail addresses of owners, for the API and the command line: as they are kept, and how many there may be. */

import { Refusal } from '../run/errors.ts'
import { MAIL_KINDS, type MailKind } from '../run/fact-kinds.ts'
import type { Receivers } from '../store/ports/receivers.ts'

/** Of one owner, so that one fact does not become any number of mails. Two at the same moment may pass it by one. */
const RECIPIENTS_MAX = 100

/** Hosts are the same in small and capital letters; what stands before the @ is for the host to judge. */
export function normalAddress(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at)}${address.slice(at).toLowerCase()}`
}

/** Each once and in one order; all of them when none are named. */
export function mailKindsOf(wanted: readonly MailKind[] | null | undefined): MailKind[] {
  return MAIL_KINDS.filter((kind) => !wanted || wanted.includes(kind))
}

export async function assertRecipientRoom(receivers: Receivers, owner: string, address: string): Promise<void> {
  const { data } = await receivers.listAddresses({ owner, limit: RECIPIENTS_MAX, cursor: null })
  if (data.length < RECIPIENTS_MAX || data.some((known) => known.address === address)) return
  throw new Refusal('recipient-limit', `${JSON.stringify(owner)} has ${RECIPIENTS_MAX} mail addresses already.`)
}
