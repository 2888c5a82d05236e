/** The settings of logs, our own and those of attempts; part of the table in `settings.ts`. */

import { integer, list, oneOf, plainText } from './value-kinds.ts'

const MIB = 1_048_576

export const LOG_ROWS = {
  logMaxBytes: {
    env: 'HOLDFAST_LOG_MAX_BYTES',
    default: String(MIB),
    about: 'How much of what one attempt prints is kept; a marker says that there was more.',
    kind: integer(0, 64 * MIB),
  },
  logDays: {
    env: 'HOLDFAST_LOG_DAYS',
    default: '30',
    about: 'How many days what attempts printed is kept after they ended; 0 for ever.',
    kind: integer(0, 36_500),
  },
  logLevel: {
    env: 'HOLDFAST_LOG_LEVEL',
    default: 'info',
    about: 'Least level that is logged: trace, debug, info, warn, error, fatal or silent.',
    kind: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  },
  logFormat: {
    env: 'HOLDFAST_LOG_FORMAT',
    default: 'auto',
    about: 'json, pretty, or auto: pretty on a terminal and json elsewhere.',
    kind: oneOf(['auto', 'json', 'pretty']),
  },
  redactWords: {
    env: 'HOLDFAST_REDACT_WORDS',
    default: 'password,token,secret,key,auth',
    about: 'Values whose name contains one of these words are hidden in logs, events and the API.',
    kind: list(/^[A-Za-z0-9_-]+$/, 'must be words between commas, e.g. password,token'),
  },
  redactModule: {
    env: 'HOLDFAST_REDACT_MODULE',
    default: null,
    about:
      'A module whose default export, a function of the path and the value, is asked before the words: true hides a value that the API would show, false shows it, nothing leaves it to the words.',
    kind: plainText(),
  },
}
