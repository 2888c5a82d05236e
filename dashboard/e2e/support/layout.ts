/** What can be said about a layout without looking at it. */

import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** The page itself never scrolls sideways; what is wider scrolls inside its box. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const wide = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    const over = [...document.querySelectorAll('body *')].filter(
      (one) => one.getBoundingClientRect().right > clientWidth + 1,
    )
    return [`${scrollWidth} > ${clientWidth}`, ...over.slice(0, 5).map((one) => one.outerHTML.slice(0, 200))]
  })
  expect(wide, `sideways scroll on ${page.url()}`).toEqual([])
}
