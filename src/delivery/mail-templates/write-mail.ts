/**
 * From what a delivery holds to the mail that a person reads. Pure: the same delivery always gives the same mail, so that a mail that is
 * sent again is the same one, and the API can show what was sent. Throws when the data is none that a template knows.
 */

import { z } from 'zod'
import type { MailKind } from '../../run/fact-kinds.ts'
import type { MailData } from '../../store/ports/outbox.ts'
import { asHtml } from './as-html.ts'
import { asText } from './as-text.ts'
import { batchFinishedLetter } from './batch-finished.ts'
import { duplicateLetter } from './duplicate.ts'
import { failureLetter } from './failure.ts'
import { type Footer, type Letter, paragraph, type WrittenMail } from './letter.ts'
import { type Places, placesUnder } from './places.ts'
import { progressLetter } from './progress.ts'

const count = z.int().min(0)
const told = { documents: z.array(z.object({ runId: z.string(), name: z.string(), at: z.string() })), more: count }
const batch = { batchId: z.string().nullable(), batchTitle: z.string().nullable() }

const KNOWN: z.ZodType<MailData> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('duplicate'), ...told }),
  z.object({
    kind: z.literal('failure'),
    ...told,
    error: z.object({ class: z.string(), message: z.string() }),
    batchId: z.string().nullable(),
  }),
  z.object({ kind: z.literal('progress'), done: count, ...batch }),
  z.object({ kind: z.literal('batch_finished'), ...batch, batchId: z.string(), counts: z.record(z.string(), count) }),
])

/** The kind of a delivery that only shows that mail arrives. */
export const TEST_KIND = 'test'

export type ToWrite = { kind: string; owner: string; data: unknown }

/** `unsubscribeUrl` null leaves the link out, as where a mail is only shown. */
export function writeMail(
  { kind, owner, data }: ToWrite,
  { publicUrl, unsubscribeUrl }: { publicUrl: string; unsubscribeUrl: string | null },
): WrittenMail {
  const places = placesUnder(publicUrl)
  const letter = kind === TEST_KIND ? testLetter(places) : letterOf(KNOWN.parse(data), places)
  const footer: Footer = {
    why: `This address is told about the documents of ${owner === '*' ? 'everybody' : JSON.stringify(owner)}.`,
    unsubscribeUrl,
  }
  return { subject: letter.subject, text: asText(letter, footer), html: asHtml(letter, footer) }
}

/** What its receiver can unsubscribe from; null for all of it. */
export function mailKindOf({ kind, data }: ToWrite): MailKind | null {
  return kind === TEST_KIND ? null : KNOWN.parse(data).kind
}

function letterOf(data: MailData, places: Places): Letter {
  switch (data.kind) {
    case 'duplicate':
      return duplicateLetter(data, places)
    case 'failure':
      return failureLetter(data, places)
    case 'progress':
      return progressLetter(data, places)
    case 'batch_finished':
      return batchFinishedLetter(data, places)
  }
}

function testLetter(places: Places): Letter {
  return {
    subject: 'Mail from Holdfast arrives',
    blocks: [
      paragraph('Somebody asked for this mail to see whether it arrives. It does; nothing else happened.'),
      { kind: 'link', label: 'Documents', url: places.documents() },
    ],
  }
}
