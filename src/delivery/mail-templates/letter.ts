/**
 * A mail before it is text or HTML: a subject and a few blocks. Templates say what a letter tells, `as-text.ts` and `as-html.ts` how it
 * looks, so that both always say the same, and no template touches markup. Pure.
 */

export type Letter = { subject: string; blocks: Block[] }

export type Block =
  | { kind: 'paragraph'; text: string }
  /** `more` documents are counted and not named. */
  | { kind: 'documents'; documents: { name: string; url: string }[]; more: number }
  | { kind: 'facts'; rows: { name: string; value: string }[] }
  | { kind: 'link'; label: string; url: string }

/** A letter as it is sent. */
export type WrittenMail = { subject: string; text: string; html: string }

export const paragraph = (text: string): Block => ({ kind: 'paragraph', text })

/** What may follow the letter: why it came, and how to get no more of them. */
export type Footer = { why: string; unsubscribeUrl: string | null }
