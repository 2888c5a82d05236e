/** The overview: the first look, the numbers and charts of operators, what needs attention, and what others see. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Stats } from '../../client/src/index.ts'
import { createRollStats } from '../../src/store/roll-stats.ts'
import { until } from '../../test/support/until.ts'
import { formatDuration, formatNumber } from '../src/parts/format.ts'
import { formatRate, formatRatio } from '../src/screens/overview/stats-words.ts'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type House, openHouse, type Stoppable } from './support/house.ts'
import { hasVisibleFocus, tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

describe('a service of one’s own', () => {
  let house: House
  let worker: Stoppable

  beforeAll(async () => {
    house = await openHouse()
  })
  afterAll(() => house?.close())

  test('before the first run it says how to make one, and shows it as soon as it is there', async () => {
    const page = await openPage(house, '/')
    await page.getByText('Ready for the first run').waitFor()
    await page.getByText(`curl -s '${house.url}/runs'`).waitFor()
    expect(await page.getByRole('link', { name: 'Upload documents' }).getAttribute('href')).toBe('/ui/documents')
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
    await expectAccessibleInBothSchemes(page)

    const runId = await house.submit('quick')
    await tile(page, 'Waiting').getByText('1', { exact: true }).waitFor()
    await attention(page).getByText('No live worker serves queue default').waitFor()
    await tile(page, 'Oldest waiting').getByRole('link').click()
    await page.waitForURL(`${house.uiUrl}/runs/${runId}`)
  })

  test('its numbers are those of GET /stats, drawn and as a table', async () => {
    worker = await house.startWorker()
    const [first] = await Array.fromAsync(house.client.list())
    const ids = [
      first!.run_id,
      ...(await Promise.all([1, 2, 3, 4].map(() => house.submit('quick')))),
      await house.submit('flaky'),
      ...(await Promise.all([1, 2].map(() => house.submit('failing')))),
    ]
    await Promise.all(ids.map((id) => house.reaches(id, 'SUCCEEDED', 'FAILED')))
    const page = await openPage(house, '/')
    const stats = await settledStats(house)
    await page.reload()
    await expectTotals(page, stats)
    await tile(page, 'Workers alive').getByRole('img', { name: 'Slots in use: 0 of 8' }).waitFor()

    const figures = page.getByRole('figure')
    await expect.poll(() => figures.count()).toBe(6)
    const light = await drawings(page)
    for (const [drawn, painted] of light) expect(painted, drawn.slice(0, 60)).toBeGreaterThan(200)
    await page.emulateMedia({ colorScheme: 'dark' })
    await until(async () => (await drawings(page)).every(([drawn], index) => drawn !== light[index]![0]), {
      what: 'every chart is drawn in the other colours',
    })

    await tabTo(page, page.getByRole('button', { name: 'Show as table: Runs ended' }))
    expect(await hasVisibleFocus(page)).toBe(true)
    await page.keyboard.press('Enter')
    await page.waitForURL(/[?&]table=ended/)
    await expectRows(page, stats)
    await page.getByRole('button', { name: 'Show as chart: Runs ended' }).click()
    await page.getByRole('figure', { name: 'Runs ended' }).locator('canvas').waitFor()
    await expectAccessibleInBothSchemes(page)
  })

  test('the range, the model and the queue are in the address', async () => {
    const page = await openPage(house, '/?table=lag')
    await page.getByRole('radiogroup', { name: 'Time range' }).getByText('24 h').click()
    await page.waitForURL(/range=24h/)
    await page.getByRole('heading', { name: 'Last 24 hours' }).waitFor()
    await page.getByRole('combobox', { name: 'Model' }).selectOption('failing')
    await page.waitForURL(/model=failing/)
    const stats = await house.client.stats({ bucket: 'hour', model: 'failing' })
    expect(stats.total.failed).toBe(2)
    await expectTotals(page, stats)
    const rows = page.getByRole('figure', { name: 'Queue lag' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(stats.data.length)
    await page.reload()
    await expectTotals(page, stats)
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('failing')
  })

  test('dead letters lead to exactly their runs, and a phone is wide enough', async () => {
    const page = await openPage(house, '/', { viewport: PHONE })
    await attention(page).getByText('Runs of the last day failed for good').waitFor()
    const letters = page.getByRole('table').filter({ hasText: 'See and retry' }).getByRole('row')
    const [group] = await groupsOf(house)
    await letters.filter({ hasText: 'failing' }).getByText(group!.example.message).waitFor()
    await page.getByRole('figure').first().locator('canvas').waitFor()
    await expectNoSidewaysScroll(page)
    await letters.filter({ hasText: 'failing' }).getByRole('link', { name: 'See and retry' }).click()
    await page.waitForURL(/\/runs\?/)
    const asked = new URL(page.url()).searchParams
    expect(Object.fromEntries(asked)).toMatchObject({ status: 'FAILED', model: 'failing', error_class: 'Fatal' })
    await worker.stop()
  })
})

describe('a service with tokens', () => {
  let house: House
  beforeAll(async () => {
    house = await openHouse({ tokens: true })
  })
  afterAll(() => house?.close())

  test('a viewer sees their own runs, and is not refused anything', async () => {
    const page = await openPage(house, '/', { token: house.tokens.viewer })
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url())
    })
    await page.getByText('You have no runs yet').waitFor()
    const { runId } = await house.clientOf('submitter').submit('quick', {}, { title: 'mine' })
    await page.getByRole('link', { name: 'mine', exact: true }).waitFor()
    await tile(page, 'Waiting').waitFor()
    await attention(page).getByText('No live worker serves queue default').waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'mine', exact: true }).waitFor()
    expect(await page.getByRole('figure').count()).toBe(0)
    await house.client.cancel(runId)
    await page.getByText('All is well: nothing needs attention.').waitFor()
    expect(refused).toEqual([])
    await expectAccessibleInBothSchemes(page)
  })
})

function tile(page: Page, name: string) {
  return page.getByRole('group', { name, exact: true })
}

function attention(page: Page) {
  return page.getByRole('list', { name: 'Needs attention' })
}

async function groupsOf(house: House) {
  return Array.fromAsync(house.client.failures())
}

/** Counted up to now, as the workers do every few seconds. */
async function settledStats(house: House): Promise<Stats> {
  const roll = createRollStats(house.db.pool)
  const runs = await Array.fromAsync(house.client.list())
  return until(
    async () => {
      await roll({ minAgeMs: 0 })
      const stats = await house.client.stats({ bucket: 'minute' })
      return stats.total.succeeded + stats.total.failed === runs.length && stats
    },
    { what: 'all runs are counted' },
  )
}

async function expectTotals(page: Page, { total, now }: Stats): Promise<void> {
  const shown: [name: string, value: string][] = [
    ['Waiting', formatNumber(now.pending)],
    ['Running', formatNumber(now.running)],
    ['Created', formatNumber(total.created)],
    ['Succeeded', formatNumber(total.succeeded)],
    ['Failed', formatNumber(total.failed)],
    ['Cancelled', formatNumber(total.cancelled)],
    ['Retried', formatNumber(total.retried)],
    ['Reclaimed', formatNumber(total.reclaimed)],
    ['Failure ratio', formatRatio(total.failure_ratio!)],
    ['Lag p50', formatDuration(total.queue_lag_seconds.p50!)],
    ['Duration p50', formatDuration(total.duration_seconds.p50!)],
  ]
  for (const [name, value] of shown) await tile(page, name).getByText(value, { exact: true }).waitFor()
  // It goes down from second to second; what must hold is that it is shown and not nothing.
  expect(await tile(page, 'Throughput').textContent()).not.toContain(formatRate(0))
}

/** The rows of the table, newest first, against the buckets of the answer. */
async function expectRows(page: Page, { data, total }: Stats): Promise<void> {
  const figure = page.getByRole('figure', { name: 'Runs ended' })
  const rows = await figure
    .locator('tbody tr')
    .evaluateAll((found) =>
      found.map((row) => [
        row.querySelector('time')!.dateTime,
        ...[...row.querySelectorAll('td')].map((cell) => cell.textContent ?? ''),
      ]),
    )
  const ended = data.filter(({ succeeded, failed, cancelled }) => succeeded + failed + cancelled > 0)
  expect(ended.length).toBeGreaterThan(0)
  for (const { at, succeeded, failed, cancelled } of ended) {
    expect(rows).toContainEqual([at, ...[succeeded, failed, cancelled].map(String)])
  }
  const sums = [1, 2, 3].map((cell) => rows.reduce((sum, row) => sum + (Number(row[cell]) || 0), 0))
  expect(sums).toEqual([total.succeeded, total.failed, total.cancelled])
}

/** What each canvas shows, and how many of its pixels are painted. */
async function drawings(page: Page): Promise<[drawn: string, painted: number][]> {
  await page.getByRole('figure').last().locator('canvas').waitFor()
  return page.locator('figure canvas').evaluateAll((found) =>
    (found as HTMLCanvasElement[]).map((canvas): [string, number] => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
      return [canvas.toDataURL(), data.filter((value, index) => index % 4 === 3 && value > 0).length]
    }),
  )
}
