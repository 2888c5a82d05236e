/** E-mail addresses, found from the @ outwards, so that a text without one costs nothing whatever else is in it. */

const LOCAL_MAX = 64
const DOMAIN_MAX = 253
const LOCAL = /[a-z0-9](?:[a-z0-9._%+-]{0,62}[a-z0-9_+-])?$/i
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?){0,8}/i
const LAST_PART = /\.[a-z]{2,63}$/i

/** In the order they appear, each once, the domain in lower case. */
export function findEmails(text: string, countMax: number): string[] {
  const found = new Set<string>()
  for (let at = text.indexOf('@'); at !== -1 && found.size < countMax; at = text.indexOf('@', at + 1)) {
    const local = LOCAL.exec(localBefore(text, at))?.[0]
    const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + DOMAIN_MAX))?.[0]
    if (!local || !domain || local.includes('..') || !LAST_PART.test(domain)) continue
    found.add(`${local}@${domain.toLowerCase()}`)
  }
  return [...found]
}

/** A part before the @ that is too long is no address, and neither is its end. */
function localBefore(text: string, at: number): string {
  let from = at
  while (from > 0 && at - from <= LOCAL_MAX && /[a-z0-9._%+-]/i.test(text[from - 1]!)) from--
  return at - from > LOCAL_MAX ? '' : text.slice(from, at)
}
