/** The keyboard alone. */

import type { Locator, Page } from 'playwright-core'

const TABS_MAX = 120

/** Presses Tab until the element has the focus; fails when it cannot be reached that way. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
    if (await target.evaluate((one) => one === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${TABS_MAX} presses of Tab did not lead to ${target}`)
}

/** Whether whatever has the focus has an outline or a ring that can be seen. */
export function hasVisibleFocus(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const one = document.activeElement
    if (!one || one === document.body) return false
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one)
    return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || boxShadow !== 'none'
  })
}
