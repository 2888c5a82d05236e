/**
 * An example model that reads documents: plain text, Markdown, HTML, CSV, PDF and DOCX, in five steps.
 *
 *     identify → extract → measure → entities → summarise
 *
 * The output of each step is durable, so a worker that dies costs one step and not the document. A document that can never be
 * read ends at once with an error that says why and what to do. Documents are hostile: they are parsed in a child process and
 * within the limits of limits.ts, and what is left after those, memory and an endless loop, ends the attempt with its process.
 *
 * Nothing of what reads documents is loaded before the first one is there.
 */

import { fileId, model } from 'holdfast'
import { z } from 'zod'
import { LIMITS } from './limits.ts'

export const documentPipeline = model({
  name: 'document_pipeline_v1',
  version: '1',
  description:
    'Reads a document: its kind, text, language, dates, amounts, e-mail addresses, places, summary and terms.',
  parameters: z.strictObject({
    document: fileId(),
    /** Settles a doubt between languages; two letters, as in `fr`. */
    language_hint: z
      .string()
      .regex(/^[a-z]{2}$/)
      .optional(),
  }),
  executor: 'process',
  expectedSeconds: 20,
  // What fills its memory once does so again. An attempt that is late may have met a machine in trouble: it goes to the back of the queue.
  retry: { maxAttempts: 5, noRetryOn: ['MemoryLimit', 'OutOfMemory'] },
  facets: {
    kind: 'kind',
    language: 'language',
    currency: 'entities.amounts.currency',
    email: 'entities.emails',
    date: 'entities.dates.date',
    term: 'terms.term',
  },
  places: 'places',
})
  .step('identify', async (_, ctx) => {
    const { checkSize, identify } = await import('./identify.ts')
    const document = ctx.file('document')
    checkSize(document.bytes, LIMITS)
    return identify(await document.read(), LIMITS)
  })
  .step('extract', async (identified, ctx) => {
    const { extract } = await import('./extract.ts')
    return extract(await ctx.file('document').read(), identified, LIMITS)
  })
  .step('measure', async (extracted, ctx) => {
    const { measure } = await import('./measure.ts')
    return measure(extracted, ctx.parameters.language_hint ?? null)
  })
  .step('entities', async (measured) => {
    const { findEntities } = await import('./find-entities.ts')
    return findEntities(measured)
  })
  .step('summarise', async (document) => {
    const { summarise } = await import('./summarise.ts')
    return summarise(document)
  })

export default documentPipeline
