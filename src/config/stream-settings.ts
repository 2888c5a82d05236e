/** The settings of the Redis stream that programs can follow; part of the table in `settings.ts`. */

import { z } from 'zod'
import { FACT_KINDS, type FactKind } from '../run/fact-kinds.ts'
import { integer, list } from './value-kinds.ts'

const KINDS_WANTED = `must be kinds of facts between commas: ${FACT_KINDS.join(', ')}`
const isKind = (text: string): text is FactKind => (FACT_KINDS as readonly string[]).includes(text)

export const STREAM_ROWS = {
  name: {
    env: 'HOLDFAST_STREAM',
    default: null,
    about:
      'Redis stream at REDIS_URL to which relays add each fact, e.g. holdfast:facts. All relays need the same value: one that starts without it removes the stream from the receivers, with what waits for it.',
    kind: z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be the key of a stream, without spaces, e.g. holdfast:facts'),
  },
  kinds: {
    env: 'HOLDFAST_STREAM_KINDS',
    default: FACT_KINDS.join(','),
    about: 'Which kinds of facts go to the stream.',
    kind: list(/^/, KINDS_WANTED)
      .refine((kinds) => kinds.length > 0 && kinds.every(isKind), KINDS_WANTED)
      .transform((kinds) => FACT_KINDS.filter((kind) => kinds.includes(kind))),
  },
  lengthMax: {
    env: 'HOLDFAST_STREAM_LENGTH',
    default: '100000',
    about: 'Entries that are kept in the stream, at least; beyond, the oldest are dropped.',
    kind: integer(1, 1_000_000_000),
  },
}
