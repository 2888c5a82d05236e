/** The settings of the relay, which takes facts to webhooks, mail and the stream; part of the table in `settings.ts`. */

import { integer, plainText, seconds, secondsList } from './value-kinds.ts'

const DAY = 86_400

export const RELAY_ROWS = {
  delaysSeconds: {
    env: 'HOLDFAST_DELIVERY_DELAYS_SECONDS',
    default: '5,300,1800,7200,18000,36000,50400,72000,86400',
    about: 'Waits before the second, third, … sending of a delivery that failed; after the last one it is given up.',
    kind: secondsList(30 * DAY),
  },
  keepDays: {
    env: 'HOLDFAST_DELIVERY_DAYS',
    default: '30',
    about: 'How many days deliveries are kept after they ended, and what they told of; 0 for ever.',
    kind: integer(0, 36_500),
  },
  sendsMax: {
    env: 'HOLDFAST_RELAY_SENDS',
    default: '128',
    about: 'Deliveries of one channel that one relay sends at once.',
    kind: integer(1, 10_000),
  },
  pollSeconds: {
    env: 'HOLDFAST_RELAY_POLL_SECONDS',
    default: '1',
    about: 'How often an idle relay looks for facts to spread and deliveries to send.',
    kind: seconds(0.01, 3_600),
  },
  leaseSeconds: {
    env: 'HOLDFAST_RELAY_LEASE_SECONDS',
    default: '60',
    about:
      'How long a delivery belongs to a relay that gives no sign of life; then it is sent again under the same id. One sending takes 15 seconds at most, and no more than half of this.',
    kind: seconds(1, 3_600),
  },
  probePort: {
    env: 'HOLDFAST_RELAY_PORT',
    default: null,
    about:
      'Port on which `holdfast relay` answers /metrics, /livez and /readyz; 0 takes any free one. Without it there is none. Not used under `npm start`.',
    kind: integer(0, 65_535),
  },
  probeHost: {
    env: 'HOLDFAST_RELAY_HOST',
    default: '127.0.0.1',
    about: 'Address for that port.',
    kind: plainText(),
  },
}
