/**
 * Where the app and the API are. A proxy may put any path in front of `/ui/`; the page's base says which, so nothing here is fixed.
 */

const base = new URL(document.baseURI)

/** Of the app, without a slash at its end: `/ui`, or `/team/holdfast/ui`. */
export const appPath = base.pathname.replace(/\/+$/, '')

/** Of the API, without a slash at its end. */
export const apiUrl = new URL('..', base).href.replace(/\/+$/, '')

/** A link of the API, such as `/runs/…/artifacts/…`, as the browser can follow it. */
export function apiLink(path: string): string {
  return `${apiUrl}${path}`
}

export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
