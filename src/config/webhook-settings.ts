/** The settings of webhooks; part of the table in `settings.ts`. */

import { isAllowEntry } from '../run/address-guard.ts'
import { list } from './value-kinds.ts'

const WANTED =
  'must be host names, addresses and ranges between commas, e.g. hooks.internal,*.svc.cluster.local,10.1.0.0/16'

export const WEBHOOK_ROWS = {
  allow: {
    env: 'HOLDFAST_WEBHOOK_ALLOW',
    default: '',
    about:
      'Hosts that webhooks may reach although they are in a private network, also over http and at any port: names, *.name for those below one, addresses and ranges, between commas.',
    kind: list(/^/, WANTED).refine((entries) => entries.every(isAllowEntry), WANTED),
  },
}
