/** The kinds of events in words, as far as they are known; others are shown by their names. */

const WORDS: Record<string, string> = {
  created: 'Created',
  started: 'Attempt started',
  submitted: 'Handed to an engine',
  running: 'The engine began',
  retry_scheduled: 'Failed, will be tried again',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancel_requested: 'Asked to stop',
  cancelled: 'Cancelled',
  released: 'Given back by its worker',
  lost: 'Lost by its engine',
  reclaimed: 'Lease lost, taken back',
  adopted: 'Taken over by another worker',
  overdue: 'Overdue',
  late_result_discarded: 'A late answer was discarded',
  approved: 'Approved',
  rejected: 'Rejected',
}

export function eventWords(type: string): string {
  return Object.hasOwn(WORDS, type) ? WORDS[type]! : type.replaceAll('_', ' ')
}
