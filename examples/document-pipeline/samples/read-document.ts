/** The five steps in a row, as the model does them, for tests of what a document gives. */

import { extract } from '../extract.ts'
import { findEntities } from '../find-entities.ts'
import { identify } from '../identify.ts'
import { LIMITS, type Limits } from '../limits.ts'
import { measure } from '../measure.ts'
import { type DocumentResult, summarise } from '../summarise.ts'

export async function readDocument(bytes: Buffer, limits: Limits = LIMITS): Promise<DocumentResult> {
  const identified = await identify(bytes, limits)
  const extracted = await extract(bytes, identified, limits)
  return summarise(findEntities(await measure(extracted)))
}

/** The class of the error it ends with, or the kind it was read as. */
export async function outcomeOf(bytes: Buffer, limits: Limits = LIMITS): Promise<string> {
  try {
    return (await readDocument(bytes, limits)).kind
  } catch (error) {
    return (error as Error).name
  }
}
