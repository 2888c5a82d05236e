/**
 * The page of the dashboard as one answer of it: two lines of what was built are filled in. The base leads from the path that was asked for back
 * to the folder of the app, relatively, so that the page works behind any path a proxy puts in front, without anybody telling us which.
 * The nonce allows the styles that the app makes, and stands in the policy of the same answer.
 */

const BASE = /<base href="[^"]*"\s*\/?>/
const NONCE = /<meta name="style-nonce" content="[^"]*"\s*\/?>/

export function isDashboardPage(built: string): boolean {
  return BASE.test(built) && NONCE.test(built)
}

export function fillPage(built: string, { base, nonce }: { base: string; nonce: string }): string {
  return built.replace(BASE, `<base href="${base}" />`).replace(NONCE, `<meta name="style-nonce" content="${nonce}" />`)
}

export function dashboardPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'self'",
    "form-action 'self'",
  ].join('; ')
}

/**
 * The path below `/ui/` as the browser wrote it, still encoded: only its slashes count for a relative address, an encoded one is a letter.
 * Null for a path that no browser sends, because it resolves `.` and `..` itself, also encoded ones.
 */
export function pathBelow(url: string): string | null {
  const path = url.replace(/^[a-z]+:\/\/[^/]*/i, '').split(/[?#]/, 1)[0]!
  const below = path.slice(path.indexOf('/', 1) + 1)
  const isDots = (step: string) => /^(?:\.|%2e){1,2}$/i.test(step)
  return below.split(/[/\\]/).some(isDots) ? null : below
}

/** From a page at `below` back up to the folder of the app. */
export function baseFrom(below: string): string {
  return '../'.repeat(below.split('/').length - 1) || './'
}
