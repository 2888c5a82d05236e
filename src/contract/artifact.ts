/** The files that attempts left, on the wire. */

import { z } from 'zod'
import { pageAnswer, pageQuery } from './page.ts'

/** The longest name there can be, in characters of UTF-16. */
export const ARTIFACT_NAME_MAX = 1_000

export const ArtifactObject = z.strictObject({
  /** As the program named it, with slashes for folders. Not to be used as a path without a look at it. */
  name: z.string(),
  attempt: z.int().min(1),
  bytes: z.int().min(0),
  /** Of the bytes, hexadecimal. */
  sha256: z.string(),
  /** Where to download it. */
  href: z.string(),
})

export const ArtifactQuery = z.strictObject({
  ...pageQuery,
  /** `next_cursor` of the page before. */
  cursor: z.string().min(1).max(10_000).optional(),
  /** Only what this attempt left. */
  attempt: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1))
    .optional(),
})

export const ArtifactList = pageAnswer(ArtifactObject)

export type ArtifactObject = z.infer<typeof ArtifactObject>
export type ArtifactQuery = z.infer<typeof ArtifactQuery>
export type ArtifactList = z.infer<typeof ArtifactList>
