/** The list of runs: what is filtered is in the address, what happens appears by itself, and acts reach everything that matches. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunFilter } from '../../client/src/index.ts'
import { until } from '../../test/support/until.ts'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { API_AWAY, announce, openPage, PHONE } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { hasVisibleFocus, tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

let house: House

beforeAll(async () => {
  house = await openHouse()
})
afterAll(() => house?.close())

const rowOf = (page: Page, runId: string) => page.locator(`[data-run="${runId}"]`)
const shownIds = (page: Page) =>
  page.locator('[data-run]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-run')))
const searchOf = (page: Page) => new URL(page.url()).search

async function apiIds(filter: RunFilter, limit = 20): Promise<string[]> {
  return (await house.client.listPage(filter, { limit })).data.map(({ run_id }) => run_id)
}

async function expectShown(page: Page, filter: RunFilter): Promise<void> {
  const isSame = async () => JSON.stringify(await shownIds(page)) === JSON.stringify(await apiIds(filter))
  await until(isSame, { what: `the page shows what the API answers to ${JSON.stringify(filter)}`, timeoutMs: 25_000 })
}

test('nothing yet: says how to begin; then a run goes from PENDING to SUCCEEDED without a reload, and its title is only text', async () => {
  const page = await openPage(house, '/runs')
  await page.getByText('There are no runs yet').waitFor()
  await page.getByText(`curl ${house.url}/runs`).waitFor()
  await expectAccessibleInBothSchemes(page)
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))

  const title = '<img src=x onerror="globalThis.isHacked=true">'
  const runId = await house.submit('slow', {}, { title, tags: ['live'] })
  const row = rowOf(page, runId)
  await row.getByText('PENDING').waitFor()
  await row.getByText(title).waitFor()
  await house.startWorker()
  await row.getByText('RUNNING').waitFor()
  await house.letGo(runId)
  await row.getByText('SUCCEEDED').waitFor()
  expect((await house.client.get(runId)).status).toBe('SUCCEEDED')
  const marks = await page.evaluate(() => [
    'isSamePage' in globalThis,
    'isHacked' in globalThis,
    document.querySelectorAll('main img').length,
  ])
  expect(marks).toEqual([true, false, 0])
})

test('filters are in the address, can be negated, and the way back leads through them', async () => {
  const [ok, bad] = await Promise.all([
    house.submit('quick', {}, { title: 'Alpha', tags: ['eu,west', 'nightly'] }),
    house.submit('failing', { message: 'no header' }, { title: 'Beta', tags: ['nightly'] }),
  ])
  await Promise.all([house.reaches(ok, 'SUCCEEDED'), house.reaches(bad, 'FAILED')])
  const page = await openPage(house, '/runs?tag=nightly')
  await expectShown(page, { tag: 'nightly' })
  await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'Failed' }).click()
  await expectShown(page, { tag: 'nightly', status: 'FAILED' })
  expect(searchOf(page)).toBe('?status=FAILED&tag=nightly')

  await page.getByRole('button', { name: 'Tag is nightly' }).first().click()
  await expectShown(page, { not_tag: 'nightly', status: 'FAILED' })
  await page.getByText('No run matches').waitFor()
  expect(searchOf(page)).toBe('?status=FAILED&not_tag=nightly')
  await page.goBack()
  await expectShown(page, { tag: 'nightly', status: 'FAILED' })
  await page.goBack()
  await page.goForward()
  await expectShown(page, { tag: 'nightly', status: 'FAILED' })
  await page.getByRole('button', { name: 'Clear all' }).click()
  await expectShown(page, {})

  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.getByLabel('Filter by').selectOption('tag')
  await page.getByLabel('Is or is not').selectOption('is not')
  await page.getByLabel('Value of tag').fill('eu,west')
  await page.keyboard.press('Enter')
  await expectShown(page, { not_tag: 'eu,west' })
  await page.getByLabel('Filter by').selectOption('Created (time)')
  await page.getByRole('button', { name: 'Last 24 hours' }).click()
  await page.getByRole('button', { name: /^Remove: Created since/ }).waitFor()
  await expectShown(page, { not_tag: 'eu,west' })
  await expectAccessibleInBothSchemes(page)

  await page.goto(`${house.uiUrl}/runs?status=NOPE`)
  await page.getByRole('alert').getByText('A query parameter is not valid').waitFor()
  await page.getByRole('button', { name: 'Remove: Status is NOPE' }).click()
  await expectShown(page, {})
})

test('200 failed runs are counted, retried and accounted for, and the operation outlives its window', async () => {
  const gate = 'bulk-retry-gate'
  const items = Array.from({ length: 200 }, (_, n) => ({
    model: 'failing',
    parameters: { gate, n },
    tags: ['bulk'],
    dedupe: 'off' as const,
  }))
  await house.client.batch(items)
  const countOf = async (filter: RunFilter) => (await house.client.listPage(filter, { limit: 200 })).data.length
  await until(async () => (await countOf({ status: 'FAILED', tag: 'bulk' })) === 200, {
    what: 'all 200 have failed',
    timeoutMs: 25_000,
  })
  await house.letGo(gate)

  const page = await openPage(house, '/runs?status=FAILED&tag=bulk')
  // As if it took longer than it does, until its window has been closed.
  let isHeld = true
  await page.route(/\/bulk\/[0-9a-f-]+$/, async (route) => {
    const response = await route.fetch()
    const operation = await response.json()
    await route.fulfill({ response, json: isHeld ? { ...operation, state: 'RUNNING' } : operation })
  })
  await page.getByRole('button', { name: 'Act on all' }).click()
  await page.getByRole('button', { name: 'Retry matching runs' }).click()
  const dialog = page.getByRole('dialog', { name: 'Retry matching runs' })
  await dialog.getByText('200 runs').first().waitFor()
  await dialog.getByText('status is FAILED, and tag is bulk').waitFor()
  await expectAccessibleInBothSchemes(page)
  await dialog.getByRole('button', { name: 'Retry 200 runs' }).click()
  await page.waitForURL(/bulk=/)
  const link = page.url()
  await dialog.getByText(/^Retrying runs: \d+ of 200 done/).waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL((url) => !url.search.includes('bulk='))
  await page.reload()
  await page.getByRole('status').filter({ hasText: 'Retrying runs' }).waitFor()
  isHeld = false
  await page.getByRole('status').filter({ hasText: 'Retry finished: 200 runs' }).waitFor()
  await page.getByRole('link', { name: 'Show', exact: true }).click()
  await dialog.getByRole('button', { name: 'Retried 200' }).waitFor()
  await dialog.getByRole('region', { name: 'Retried runs' }).getByRole('link').nth(399).waitFor()
  await expectAccessibleInBothSchemes(page)
  expect(page.url()).toBe(link)

  await until(async () => (await countOf({ status: 'SUCCEEDED', tag: 'bulk' })) === 200, {
    what: 'all are done',
    timeoutMs: 25_000,
  })
  const operation = await house.client.bulk.get(new URL(link).searchParams.get('bulk')!)
  expect(operation).toMatchObject({ state: 'DONE', processed: 200, counts: { retried: 200, refused: 0 } })
})

test('an act on everything must be meant', async () => {
  const page = await openPage(house, '/runs')
  await page.getByRole('button', { name: 'Act on all' }).click()
  await page.getByRole('button', { name: 'Retry matching runs' }).click()
  const act = page.getByRole('dialog').getByRole('button', { name: /^Retry \d+ runs/ })
  await page.getByText('No filter is set').waitFor()
  expect(await act.isDisabled()).toBe(true)
  await page.getByLabel('I mean all of them').check()
  await expect.poll(() => act.isDisabled()).toBe(false)
  await expectAccessibleInBothSchemes(page)
})

test('a view is saved, is a link, is renamed and deleted', async () => {
  const page = await openPage(house, '/runs?not_status=SUCCEEDED&model=failing&order=created_at_asc')
  const views = page.getByRole('button', { name: 'Views' })
  await views.click()
  await page.getByRole('button', { name: 'Save this view' }).click()
  await page.getByLabel('Name').fill('Troubles')
  await page.keyboard.press('Enter')
  await page.getByText('The view “Troubles” is saved.').waitFor()
  await page.goto(`${house.uiUrl}/runs`)
  await views.click()
  await page.getByRole('link', { name: 'Troubles' }).click()
  await page.waitForURL(/not_status=SUCCEEDED/)
  expect(searchOf(page)).toBe('?model=failing&not_status=SUCCEEDED&order=created_at_asc')

  await views.click()
  await page.getByRole('button', { name: 'Change views' }).click()
  await expectAccessibleInBothSchemes(page)
  await page.getByRole('button', { name: 'Change Troubles' }).click()
  await page.getByLabel('Name').fill('Trouble')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Delete Trouble' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the view' }).click()
  await page.getByText('There are no views.').waitFor()
  expect(await Array.fromAsync(house.client.views.list())).toEqual([])
})

test('the keyboard alone: filter, move, open, come back, mark two and compare', async () => {
  const page = await openPage(house, '/runs')
  await page.locator('[data-run]').first().waitFor()
  await page.keyboard.press('f')
  await page.getByLabel('Filter by').waitFor()
  await page.getByLabel('Filter by').selectOption('model')
  await tabTo(page, page.getByLabel('Value of model'))
  await page.keyboard.type('failing')
  await page.keyboard.press('Enter')
  await page.waitForURL(/model=failing/)
  await page.keyboard.press('Escape')
  await until(async () => (await shownIds(page)).length > 3, { what: 'the rows are there', timeoutMs: 25_000 })
  const [first, second, third] = await apiIds({ model: 'failing' })
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await rowOf(page, second!).and(page.locator(':focus')).waitFor()
  expect(await hasVisibleFocus(page)).toBe(true)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('x')
  await page.keyboard.press('k')
  await page.keyboard.press('k')
  await page.keyboard.press('x')
  await page.getByText('2 runs marked').waitFor()
  await expectAccessibleInBothSchemes(page)
  await page.keyboard.press('c')
  await page.waitForURL(`${house.uiUrl}/compare?a=${third}&b=${first}`)
  await page.goBack()
  await rowOf(page, second!).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${house.uiUrl}/runs/${second}`)
})

test('on a phone a run has two lines and nothing scrolls sideways', async () => {
  const page = await openPage(house, '/runs?not_status=RUNNING&tag=bulk', { viewport: PHONE })
  const row = page.locator('[data-run]').first()
  await row.getByText('failing').first().waitFor()
  expect((await row.boundingBox())!.height).toBeGreaterThan(45)
  await expectNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.getByLabel('Filter by').selectOption('Created (time)')
  await expectNoSidewaysScroll(page)
  await expectAccessibleInBothSchemes(page)
})

test('the service restarts while the list is open: it comes back by itself and shows what the API answers', async () => {
  const runId = await house.submit('slow', {}, { tags: ['restart'] })
  const page = await openPage(house, '/runs?tag=restart')
  announce(page, ...API_AWAY)
  await rowOf(page, runId).getByText('RUNNING').waitFor()
  await house.stopApi()
  await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
  await house.letGo(runId)
  await house.startApi()
  await house.reaches(runId, 'SUCCEEDED')
  const another = await house.submit('quick', {}, { tags: ['restart'] })
  await house.reaches(another, 'SUCCEEDED')
  await rowOf(page, runId).getByText('SUCCEEDED').waitFor()
  await rowOf(page, another).getByText('SUCCEEDED').waitFor()
  await expectShown(page, { tag: 'restart' })
})
