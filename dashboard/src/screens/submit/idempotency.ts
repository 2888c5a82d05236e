/**
 * The key of a request, which makes it one run however often it is sent. It stays the same while the same request is tried again; a request
 * that is no longer the one that was accepted gets a new one, unless the person chose the key.
 */

export type KeyState = {
  key: string
  /** Typed by the person: never replaced without being asked. */
  isOwn: boolean
  /** The request that was accepted with it (see `fingerprint`); null while there is none. */
  acceptedFor: string | null
}

export function freshKey(): KeyState {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { key: `ui-${hex}`, isOwn: false, acceptedFor: null }
}

export function ownKey(key: string): KeyState {
  return { key, isOwn: true, acceptedFor: null }
}

/** The key to send this request with. */
export function keyFor(state: KeyState, fingerprint: string): KeyState {
  const isOther = state.acceptedFor !== null && state.acceptedFor !== fingerprint
  return isOther && !state.isOwn ? freshKey() : state
}
