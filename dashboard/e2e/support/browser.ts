/**
 * A page of the dashboard in a real Chromium, one browser per process and a new context per page.
 *
 *     const page = await openPage(house, '/runs?status=FAILED', { token: house.tokens.viewer })
 *     await page.getByRole('button', { name: 'Retry' }).click()
 *
 * When the test ends, it fails if the page had an error in its console, an exception nobody caught, a violation of
 * the content security policy, a request to another origin, a request that got no answer, or an answer of 500 and
 * above. `announce(page, /ERR_CONNECTION_REFUSED/)` says beforehand what a test provokes (`...API_AWAY` for a
 * restart of the API). Answers of 400 to 499 are part of the conversation. If the test fails, a picture is left
 * in a folder that is printed.
 */

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { House } from './house.ts'
import { launchChromium } from './launch-chromium.ts'

export type PageOptions = {
  /** Logged in with it before the page opens. */
  token?: string
  colorScheme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
  /** Of a second page in the browser of the first, such as another tab: it shares its cookies and storage. */
  sameBrowserAs?: Page
  /** Where the service is reached, when not at its own address: `http://127.0.0.1:1234/tools`. */
  url?: string
}

/** What a page sees while the API is away, for `announce(page, ...API_AWAY)`. */
export const API_AWAY = [/net::ERR_/, /answer: 503/, /status of 503/]

export const PHONE = { width: 375, height: 740 }

/** With `HOLDFAST_TEST_TRACE=1` a failed test leaves a trace as well: every frame of the page. */
const KEEPS_TRACE = process.env.HOLDFAST_TEST_TRACE === '1'
/** A machine that does other things too may be given more time. */
const STEP_MS_MAX = Number(process.env.HOLDFAST_TEST_STEP_MS ?? 30_000)
/** The browser writes these for every such answer; they are judged by their status. */
const ANSWERED_4XX = /Failed to load resource: the server responded with a status of 4\d\d/

let browser: Promise<Browser> | undefined

/** The path is of the app: `/runs` is `/ui/runs`. */
export async function openPage(house: Pick<House, 'url'>, path = '/', options: PageOptions = {}): Promise<Page> {
  const url = options.url ?? house.url
  const context = options.sameBrowserAs?.context() ?? (await newContext(url, options))
  const page = await context.newPage()
  watch(page, new URL(url).origin)
  if (options.token) await logIn(page, url, options.token)
  await page.goto(`${url}/ui${path}`)
  return page
}

/** Says that a trouble of this kind is what the test wants; those before and after it count alike. */
export function announce(page: Page, ...troubles: RegExp[]): void {
  announced.set(page, [...(announced.get(page) ?? []), ...troubles])
}

/** What happened to the page up to now that nobody announced. */
export function troublesOf(page: Page): string[] {
  const wanted = announced.get(page) ?? []
  return (seen.get(page) ?? []).filter((trouble) => !wanted.some((pattern) => pattern.test(trouble)))
}

/** Into the cookie of the page's context, as the login screen does it. */
export async function logIn(page: Page, url: string, token: string): Promise<void> {
  const answer = await page.context().request.post(`${url}/session`, { data: { token } })
  if (!answer.ok()) throw new Error(`the token was refused: ${await answer.text()}`)
}

const announced = new WeakMap<Page, RegExp[]>()
const seen = new WeakMap<Page, string[]>()

async function newContext(url: string, { colorScheme = 'light', viewport }: PageOptions): Promise<BrowserContext> {
  browser ??= launchChromium()
  const settings: BrowserContextOptions = {
    colorScheme,
    viewport: viewport ?? { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    // What moves cannot be clicked, and half-faded texts have no contrast.
    reducedMotion: 'reduce',
    baseURL: `${url}/ui/`,
  }
  const context = await (await browser).newContext(settings)
  context.setDefaultTimeout(STEP_MS_MAX)
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
      // Anything but a console line could be lost when the page goes away.
      console.error(`CSP violation: ${violatedDirective} ${blockedURI} ${sample}`)
    })
  })
  // The browser draws everything twice for it. Without snapshots of the document: those are work in the page itself.
  if (KEEPS_TRACE) await context.tracing.start({ screenshots: true })
  onTestFinished(async ({ task }) => {
    const troubles = context.pages().flatMap(troublesOf)
    if (task.result?.state === 'fail' || troubles.length > 0) await keepPictures(context)
    await context.close()
    if (troubles.length > 0) throw new Error(`the page had troubles nobody announced:\n- ${troubles.join('\n- ')}`)
  })
  return context
}

function watch(page: Page, origin: string): void {
  const troubles: string[] = []
  seen.set(page, troubles)
  page.on('console', (message) => {
    if (message.type() === 'error' && !ANSWERED_4XX.test(message.text())) troubles.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => troubles.push(`uncaught: ${error.stack ?? error.message}`))
  page.on('crash', () => troubles.push('the page crashed'))
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url())
    if (asked !== origin && protocol !== 'data:' && protocol !== 'blob:') troubles.push(`foreign: ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 500) troubles.push(`answer: ${response.status()} ${response.url()}`)
  })
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? 'unknown'
    // The page itself gave it up, for instance because another screen was opened.
    if (why !== 'net::ERR_ABORTED') troubles.push(`no answer: ${why} ${request.url()}`)
  })
}

async function keepPictures(context: BrowserContext): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-e2e-failure-'))
  for (const [index, page] of context.pages().entries()) {
    await page.screenshot({ path: join(folder, `page-${index}.png`) }).catch(() => {})
  }
  if (KEEPS_TRACE) await context.tracing.stop({ path: join(folder, 'trace.zip') }).catch(() => {})
  console.error(`pictures of the failure: ${folder}`)
}
