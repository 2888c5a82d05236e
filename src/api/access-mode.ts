/**
 * Whether the service is open or asks for tokens. With `auto` it is open until the first token exists. Tokens are never deleted, so
 * that is final: only an open service ever looks again, which is one small query a second while requests come.
 */

import { Refusal } from '../run/errors.ts'
import type { Log } from '../telemetry/log.ts'
import type { AccessConfig } from './api.ts'
import { TookTooLong, within } from './within.ts'

export type AccessMode = 'open' | 'tokens'

export type ModeWatch = {
  /** What holds now; a promise only when the last look is too old to rely on. */
  current(): AccessMode | Promise<AccessMode>
  /** The last known answer, for routes that must answer even when the database does not. */
  lastKnown(): AccessMode
  /** A token was just made here. */
  close(): void
}

/** After this time somebody looks again, while answers go on. */
const FRESH_MS = 1_000
/** After this time an answer waits for the look. */
const RELIABLE_MS = 5_000
/** A database that hangs must not hang what does not need it. */
const LOOK_MS_MAX = 1_000

export function watchMode(
  options: { mode: AccessConfig['mode']; anyToken: () => Promise<boolean>; log: Log },
  nowMs: () => number = () => performance.now(),
): ModeWatch {
  const { mode, anyToken, log } = options
  let isClosed = mode === 'tokens'
  let lookedAtMs: number | null = null
  let looking: Promise<AccessMode> | null = null
  let asking: Promise<boolean> | null = null
  const known = (): AccessMode => (isClosed ? 'tokens' : 'open')

  /** A database that hangs is asked once, not once a second. */
  function ask(): Promise<boolean> {
    asking ??= anyToken().finally(() => {
      asking = null
    })
    return asking
  }

  async function look(): Promise<AccessMode> {
    try {
      if (await within(LOOK_MS_MAX, ask())) isClosed = true
      lookedAtMs = nowMs()
    } catch (error) {
      // Before the first answer nobody knows whether the service may be open, so nobody gets in.
      if (lookedAtMs === null) throw error instanceof TookTooLong ? noAnswer(error) : error
      log.warn({ err: error }, 'could not look for access tokens')
    } finally {
      looking = null
    }
    return known()
  }

  return {
    current() {
      if (isClosed || mode === 'open') return known()
      const ageMs = lookedAtMs === null ? Number.POSITIVE_INFINITY : nowMs() - lookedAtMs
      if (ageMs < FRESH_MS) return 'open'
      looking ??= look()
      if (ageMs >= RELIABLE_MS) return looking
      return 'open'
    },
    lastKnown: known,
    close() {
      if (mode === 'auto') isClosed = true
    },
  }
}

function noAnswer(cause: Error): Refusal {
  return new Refusal('database-unavailable', 'The database does not answer right now.', { cause })
}
