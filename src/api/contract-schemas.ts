/**
 * The schemas of the contract by the names they have in the OpenAPI document: the exported name, without `Object` at its end.
 * A test holds this list equal to the files of src/contract.
 */

import { z } from 'zod'
import * as access from '../contract/access.ts'
import * as approval from '../contract/approval.ts'
import * as artifact from '../contract/artifact.ts'
import * as batch from '../contract/batch.ts'
import * as batchProgress from '../contract/batch-progress.ts'
import * as bulk from '../contract/bulk.ts'
import * as delivery from '../contract/delivery.ts'
import * as directory from '../contract/directory.ts'
import * as event from '../contract/event.ts'
import * as failures from '../contract/failures.ts'
import * as file from '../contract/file.ts'
import * as health from '../contract/health.ts'
import * as lease from '../contract/lease.ts'
import * as list from '../contract/list.ts'
import * as log from '../contract/log.ts'
import * as page from '../contract/page.ts'
import * as place from '../contract/place.ts'
import * as problem from '../contract/problem.ts'
import * as quota from '../contract/quota.ts'
import * as recipient from '../contract/recipient.ts'
import * as reservation from '../contract/reservation.ts'
import * as resumableUpload from '../contract/resumable-upload.ts'
import * as retry from '../contract/retry.ts'
import * as run from '../contract/run.ts'
import * as runFilter from '../contract/run-filter.ts'
import * as stats from '../contract/stats.ts'
import * as step from '../contract/step.ts'
import * as submit from '../contract/submit.ts'
import * as views from '../contract/views.ts'
import * as webhook from '../contract/webhook.ts'

export const CONTRACT_MODULES: Record<string, Record<string, unknown>> = {
  access,
  approval,
  artifact,
  batch,
  'batch-progress': batchProgress,
  bulk,
  delivery,
  directory,
  event,
  failures,
  file,
  health,
  lease,
  list,
  log,
  page,
  place,
  problem,
  quota,
  recipient,
  reservation,
  'resumable-upload': resumableUpload,
  retry,
  run,
  'run-filter': runFilter,
  stats,
  step,
  submit,
  views,
  webhook,
}

export function contractSchemas(): Map<string, z.ZodType> {
  const named = new Map<string, z.ZodType>()
  for (const module of Object.values(CONTRACT_MODULES)) {
    for (const [exported, value] of Object.entries(module)) {
      if (!(value instanceof z.ZodType)) continue
      const name = exported.replace(/Object$/, '')
      if (named.has(name)) throw new Error(`two schemas of the contract are called ${name}`)
      named.set(name, value)
    }
  }
  return named
}
