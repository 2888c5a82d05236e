/** Two runs side by side: only what differs, everything on demand, by links and by keys. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

let house: House
let short: string
let long: string

beforeAll(async () => {
  house = await openHouse()
  await house.startWorker()
  const parameters = { region: 'AU', sectors: ['mining'], api_key: 'first-secret' }
  short = await house.submit('forecast', { ...parameters, horizon_months: 24 }, { title: 'Short horizon' })
  long = await house.submit(
    'forecast',
    { ...parameters, horizon_months: 36 },
    { title: '<img src=x onerror=alert(1)>' },
  )
  await Promise.all([short, long].map((id) => house.reaches(id, 'SUCCEEDED')))
})
afterAll(() => house?.close())

test('of two forecasts only what differs is shown, everything on demand, and the two can be swapped', async () => {
  const page = await openPage(house, `/compare?a=${short}&b=${long}`)
  const parameters = page.getByRole('region', { name: 'Parameters', exact: true }).getByRole('row')
  const result = page.getByRole('region', { name: 'Result', exact: true }).getByRole('row')
  await page.getByText('Different input, different results.').waitFor()
  await parameters.filter({ hasText: 'horizon_months' }).filter({ hasText: '+12 (+50 %)' }).waitFor()
  await result.filter({ hasText: 'objective' }).filter({ hasText: '+18 (+50 %)' }).waitFor()
  expect(await parameters.filter({ hasText: 'region' }).count()).toBe(0)
  expect(await page.getByText('first-secret').count()).toBe(0)
  expect(await page.locator('main img').count(), 'a title is a text').toBe(0)
  await expectAccessibleInBothSchemes(page)

  await page.getByLabel('Show everything').check()
  await parameters.filter({ hasText: 'region' }).filter({ hasText: 'same' }).waitFor()
  await page.getByRole('row', { name: /^Created/ }).waitFor()

  await page.getByRole('button', { name: 'Swap' }).click()
  await parameters.filter({ hasText: 'horizon_months' }).filter({ hasText: '−12 (−33 %)' }).waitFor()
  expect(new URL(page.url()).search).toBe(`?a=${long}&b=${short}&all=1`)
})

test('runs are found by what one remembers of them, and the same run twice is said', async () => {
  const page = await openPage(house, `/compare?a=${short}`, { viewport: PHONE })
  await page.getByText('Choose the other run').waitFor()
  await page.getByRole('combobox', { name: 'Run B' }).fill('onerror')
  await page.getByRole('option', { name: /onerror/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByText('Different input, different results.').waitFor()
  expect(new URL(page.url()).searchParams.get('b')).toBe(long)
  await expectNoSidewaysScroll(page)
  await page.getByRole('combobox', { name: 'Run B' }).fill(short)
  await page.getByText('A and B are the same run').waitFor()
})

test('equal inputs are said to be equal, steps have their times, and a run without a result says why', async () => {
  const [one, other] = [await house.submit('steps'), await house.submit('steps')]
  const failed = await house.submit('failing')
  await Promise.all([
    house.reaches(one, 'SUCCEEDED'),
    house.reaches(other, 'SUCCEEDED'),
    house.reaches(failed, 'FAILED'),
  ])
  const page = await openPage(house, `/compare?a=${one}&b=${other}&all=1`)
  await page.getByText('Same input, same result.').waitFor()
  await page.getByRole('region', { name: 'Steps', exact: true }).getByRole('row', { name: /^fit/ }).waitFor()
  await expectAccessibleInBothSchemes(page)
  await page.goto(`${house.uiUrl}/compare?a=${one}&b=${failed}`)
  await page.getByText('Run B failed and has no result.').first().waitFor()
  await page
    .getByRole('row', { name: /^Error/ })
    .filter({ hasText: 'the input has no header row' })
    .waitFor()
})

test('two results of 5 MB do not freeze the page', async () => {
  const ids = [await house.submit('large'), await house.submit('large', { bytes: 5_100_000 })]
  await Promise.all(ids.map((id) => house.reaches(id, 'SUCCEEDED')))
  const page = await openPage(house, `/compare?a=${ids[0]}&b=${ids[1]}`)
  await page.getByText('1,000 differences; the first 300 are shown', { exact: true }).waitFor()
  expect(await page.locator('body *').count()).toBeLessThan(5_000)
})
