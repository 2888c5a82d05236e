/**
 * The parameters of a run derived from another. Where the caller was shown a marker and sends it back, the true value of the source
 * takes its place: at the same pointer, of the same model, and of a run that the caller may see. Any other marker stays, to be refused.
 */

import type { SubmitBody } from '../contract/submit.ts'
import { Refusal } from '../run/errors.ts'
import { findMarker, type RedactOptions, restoreRedacted } from '../run/redaction.ts'
import type { Store } from '../store/store.ts'

export async function withTrueValues(
  body: SubmitBody,
  { store, sees, redaction }: { store: Store; sees: string | null; redaction: RedactOptions },
): Promise<SubmitBody> {
  const source = (await store.readRun(body.derived_from!.toLowerCase()))?.run
  if (!source || (sees !== null && source.owner !== sees)) {
    throw refused('run-not-found', '/derived_from', `there is no run ${JSON.stringify(body.derived_from)}`)
  }
  if (source.model !== body.model) {
    throw refused('invalid-body', '/derived_from', `is a run of the model ${source.model}, not of ${body.model}`)
  }
  const parameters = restoreRedacted(body.parameters, source.parameters, redaction)
  const marker = findMarker(parameters)
  if (marker === null) return { ...body, parameters }
  throw refused('redaction-marker', `/parameters${marker}`, `is a marker, and run ${source.id} hides no value there`)
}

function refused(
  code: 'run-not-found' | 'invalid-body' | 'redaction-marker',
  pointer: string,
  detail: string,
): Refusal {
  return new Refusal(code, `${pointer} ${detail}.`, { errors: [{ pointer, detail }] })
}
