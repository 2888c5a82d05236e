/** That the tests of this folder would notice: a watchman who sleeps is worse than none. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible } from './support/axe.ts'
import { announce, openPage, troublesOf } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { longestTask } from './support/longest-task.ts'

let house: House

beforeAll(async () => {
  house = await openHouse()
})
afterAll(() => house?.close())

test('what goes wrong in a page is seen, and 4xx is not wrong', async () => {
  const page = await openPage(house, '/')
  await page.getByRole('link', { name: 'Runs' }).waitFor()
  expect(troublesOf(page)).toEqual([])
  await page.evaluate((url) => fetch(`${url}/runs/no-such-run`), house.url)
  expect(troublesOf(page)).toEqual([])

  await page.evaluate(async () => {
    console.error('told to the console')
    setTimeout(() => {
      throw new Error('thrown by nobody')
    })
    await fetch('https://elsewhere.example/').catch(() => {})
    const inline = document.createElement('script')
    inline.textContent = 'globalThis.wasInjected = true'
    document.body.append(inline)
    await new Promise((next) => setTimeout(next))
  })
  expect(await page.evaluate(() => 'wasInjected' in globalThis)).toBe(false)
  const troubles = troublesOf(page).join('\n')
  for (const part of ['told to the console', 'thrown by nobody', 'elsewhere.example', 'CSP violation: script-src']) {
    expect(troubles).toContain(part)
  }
  announce(page, /./)
  expect(troublesOf(page)).toEqual([])
})

test('axe sees what people cannot use, and a busy page is measured', async () => {
  const page = await openPage(house, '/')
  await page.getByRole('link', { name: 'Runs' }).waitFor()
  const busy = await longestTask(page, () =>
    page.evaluate(async () => {
      await new Promise((next) => setTimeout(next))
      for (const untilMs = performance.now() + 300; performance.now() < untilMs; );
    }),
  )
  expect(busy.clockMs).toBeGreaterThan(290)
  expect(busy.computingMs).toBeGreaterThan(50)
  await page.evaluate(() => document.querySelector('main')!.append(document.createElement('button')))
  await expect(expectAccessible(page)).rejects.toThrow(/button-name/)
})
