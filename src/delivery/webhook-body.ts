/**
 * What a webhook sends: the fact as its delivery keeps it (src/run/fact-body.ts sees to it that it is small enough), with a
 * link to what it is about. The same delivery gives the same bytes each time, as long as the public URL stays.
 */

/** Without a public URL the link is the path alone. */
export function webhookBody(message: unknown, publicUrl: string | null): Buffer {
  return Buffer.from(JSON.stringify(withLinks(message, publicUrl)))
}

export function withLinks(message: unknown, publicUrl: string | null): unknown {
  if (!isRecord(message) || !isRecord(message.data)) return message
  const { type, timestamp, data: _, ...rest } = message
  const path = pathOf(message.data)
  const links = path === null ? {} : { links: { self: `${publicUrl ?? ''}${path}` } }
  // A column of JSON has an order of its own; people read what it is first.
  return { type, timestamp, ...rest, data: { ...message.data, ...links } }
}

function pathOf({ run_id, batch_id }: Record<string, unknown>): string | null {
  if (typeof run_id === 'string') return `/runs/${run_id}`
  return typeof batch_id === 'string' ? `/batches/${batch_id}` : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
