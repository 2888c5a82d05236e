/** The refusal of a run that names files its owner does not have. It says the same whether or not others have them. */

import { Refusal } from './errors.ts'
import type { FileAmong } from './file-parameters.ts'

const SHOWN_MAX = 50

export function fileNotFound(missing: FileAmong[]): Refusal {
  const errors = missing.slice(0, SHOWN_MAX).map(({ parameter, fileId }) => ({
    pointer: `/parameters${parameter}`,
    detail: `names the file ${fileId}, which the owner of the run does not have`,
  }))
  const detail = errors.map((error) => `${error.pointer} ${error.detail}`).join('; ')
  return new Refusal('file-not-found', `${detail}.`, { errors })
}
