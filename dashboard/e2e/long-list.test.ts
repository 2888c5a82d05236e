/**
 * A long list: scrolling through 10,000 rows keeps the page small and quick, whoever reads further down is not disturbed, and all tabs share
 * one stream. There are 20,000 runs, or as many as HOLDFAST_TEST_RUNS says.
 *
 * HOLDFAST_TEST_TASK_MS_MAX is for machines that are slower than most.
 */

import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillFinished } from '../../bench/fill-runs.ts'
import { openPage } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { longestTask } from './support/longest-task.ts'

const RUNS = Number(process.env.HOLDFAST_TEST_RUNS ?? 20_000)
const TASK_MS_MAX = Number(process.env.HOLDFAST_TEST_TASK_MS_MAX ?? 100)
const ROWS_WALKED = 10_000
const ROW_PX = 34
const DOM_ROWS_MAX = 150

let house: House

beforeAll(async () => {
  house = await openHouse()
  await fillFinished({ url: house.db.url, folder: '' }, RUNS)
}, 600_000)
afterAll(() => house?.close())

/** As fast as a hand on the wheel, frame by frame, until so many rows have gone by. */
function walk(page: Page) {
  return page.evaluate(
    async ({ rows, rowPx }) => {
      const sinceMs = performance.now()
      let domRows = 0
      while (scrollY < rows * rowPx) {
        scrollBy({ top: 900, behavior: 'instant' })
        await new Promise((shown) => requestAnimationFrame(shown))
        domRows = Math.max(domRows, document.querySelectorAll('[data-run]').length)
      }
      const domNodes = document.querySelectorAll('*').length
      const { memory } = performance as unknown as { memory?: { usedJSHeapSize: number } }
      const heapMiB = Math.round((memory?.usedJSHeapSize ?? 0) / 2 ** 20)
      return { domRows, domNodes, heapMiB, seconds: Math.round((performance.now() - sinceMs) / 100) / 10 }
    },
    { rows: ROWS_WALKED, rowPx: ROW_PX },
  )
}

test('10,000 rows go by without a long task and without a large page; a reader further down is not moved', async () => {
  const page = await openPage(house, '/runs')
  await page.locator('[data-run]').nth(20).waitFor()
  const { got: walked, ...longest } = await longestTask(page, () => walk(page))
  console.log(`${RUNS} runs, ${ROWS_WALKED} rows: ${JSON.stringify(walked)}, longest task: ${JSON.stringify(longest)}`)
  expect(longest.tasks).toBeGreaterThan(200)
  expect(longest.computingMs).toBeLessThan(TASK_MS_MAX)
  expect(walked.domRows).toBeGreaterThan(20)
  expect(walked.domRows).toBeLessThan(DOM_ROWS_MAX)

  const atTop = () =>
    page.evaluate(() => {
      const rows = [...document.querySelectorAll('[data-run]')]
      const first = rows.find((row) => row.getBoundingClientRect().top > 120)!
      return `${first.getAttribute('data-run')} ${Math.round(first.getBoundingClientRect().top)}`
    })
  const before = await atTop()
  const runId = await house.submit('quick')
  await page.getByRole('button', { name: '1 new run, show' }).waitFor()
  expect(await atTop()).toBe(before)

  // Whoever opens a run and comes back is where they were.
  const [opened] = before.split(' ')
  await page.locator(`[data-run="${opened}"]`).click()
  await page.waitForURL(`${house.uiUrl}/runs/${opened}`)
  await page.goBack()
  await page.locator(`[data-run="${opened}"]`).waitFor()
  expect(await atTop()).toBe(before)

  await page.getByRole('button', { name: 'new run, show' }).click()
  await page.locator(`[data-run="${runId}"]`).waitFor()
  expect(await page.evaluate(() => scrollY)).toBe(0)
}, 120_000)

/** The streams that the page holds open from now on. */
function openStreams(page: Page): () => number {
  const streams = new Set<Request>()
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/events') streams.add(request)
  })
  for (const ended of ['requestfinished', 'requestfailed'] as const) {
    page.on(ended as 'requestfailed', (request) => streams.delete(request))
  }
  return () => (page.isClosed() ? 0 : streams.size)
}

test('two tabs hear of everything through one stream, and one goes on when the other is closed', async () => {
  const isLive = (page: Page) => page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  const first = await openPage(house, '/runs')
  await isLive(first)
  const ofFirst = openStreams(first)
  // From the beginning, so that the stream of this tab is counted too.
  await first.reload()
  await isLive(first)
  const second = await openPage(house, '/', { sameBrowserAs: first })
  await isLive(second)
  const ofSecond = openStreams(second)
  await second.goto(`${house.uiUrl}/runs`)
  await isLive(second)
  await expect.poll(() => ofFirst() + ofSecond()).toBe(1)
  const both = await house.submit('quick')
  for (const page of [first, second]) await page.locator(`[data-run="${both}"]`).waitFor()
  expect(ofFirst() + ofSecond()).toBe(1)

  await (ofSecond() === 1 ? second : first).close()
  const left = first.isClosed() ? second : first
  await expect.poll(() => ofFirst() + ofSecond()).toBe(1)
  const later = await house.submit('quick')
  await left.locator(`[data-run="${later}"]`).waitFor()
})
