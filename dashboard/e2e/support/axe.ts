/**
 * `expectAccessible(page)`: axe-core finds nothing in what is shown, by the rules of WCAG 2.2 A and AA and by its
 * best practices. `expectAccessibleInBothSchemes(page)` looks in light, and in dark at what depends on colours; the page
 * must follow the system's scheme, as it does by default.
 */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOnly } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** In the other scheme nothing else differs, and looking at everything again would take half of the time of these tests. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export async function expectAccessible(page: Page): Promise<void> {
  await expectNothingFound(page, { type: 'tag', values: TAGS })
}

async function expectNothingFound(page: Page, runOnly: RunOnly): Promise<void> {
  // The debugger's evaluation is not subject to the policy of the page, which stays on.
  const isThere = await page.evaluate(() => 'axe' in globalThis)
  if (!isThere) await page.evaluate(SOURCE)
  const found: Pick<AxeResults, 'violations'> = await page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    return axe.run(document, { runOnly: rules, resultTypes: ['violations'] })
  }, runOnly)
  const said = found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      (node) => `${id} (${help})\n  ${node.html.slice(0, 300)}\n  ${node.failureSummary?.replaceAll('\n', ' ')}`,
    ),
  )
  const scheme = await page.evaluate(() => document.documentElement.dataset.mantineColorScheme)
  expect(said.join('\n'), `axe on ${page.url()} in ${scheme}`).toBe('')
}

/** Screens, and dialogs on them, whose colours were looked at in dark: the same parts have the same colours in other tests. */
const seenInDark = new Set<string>()

export async function expectAccessibleInBothSchemes(page: Page): Promise<void> {
  await showIn('light', page)
  await expectAccessible(page)
  const dialog = page.locator('dialog[open] h2')
  const what = `${new URL(page.url()).pathname.replace(/[0-9a-f-]{36}/, '')} ${await dialog.allInnerTexts()}`
  if (seenInDark.has(what)) return
  seenInDark.add(what)
  await showIn('dark', page)
  await expectNothingFound(page, { type: 'rule', values: OF_COLOURS })
}

async function showIn(colorScheme: 'light' | 'dark', page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
  // Colours that are on their way have any contrast. What turns as long as it is shown is not waited for.
  await page.evaluate(() =>
    Promise.allSettled(document.getAnimations().flatMap((one) => (one instanceof CSSTransition ? [one.finished] : []))),
  )
}
