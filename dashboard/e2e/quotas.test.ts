/**
 * Quotas: what is used, rules made with the keyboard alone, a reservation given back, and what a viewer is not offered.
 */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

let house: House

beforeAll(async () => {
  house = await openHouse({ tokens: true })
  await house.client.quotas.put('alice', { max_concurrent: 5 })
  for (let run = 0; run < 3; run += 1) await house.submit('quick', { count: run })
})
afterAll(() => house?.close())

function meter(page: Page, name: string) {
  return page.getByRole('meter', { name, exact: true })
}

test('a limit says how much of it is used and by what, and a reservation can be given back', async () => {
  await house.clientOf('submitter').reservations.create({ ttlSeconds: 600 })
  const page = await openPage(house, '/quotas', { token: house.tokens.admin })
  const used = page.getByRole('listitem').filter({ has: meter(page, 'Runs at once, rule of alice') })
  await used.getByText('4 of 5').waitFor()
  await used.getByText('3 runs, 1 reservation').waitFor()
  await used.getByText('Nearly used up').waitFor()
  const reservations = page.getByRole('region', { name: 'Reservations', exact: true })
  await reservations.getByText(/expires in (9|10) min/).waitFor()
  await expectAccessibleInBothSchemes(page)
  await page.setViewportSize(PHONE)
  await expectNoSidewaysScroll(page)

  await reservations.getByRole('button', { name: /^Release/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Release this reservation?' })
  await expectAccessibleInBothSchemes(page)
  await dialog.getByRole('button', { name: 'Release it' }).click()
  await page.getByText('No place is reserved now').waitFor()
  await used.getByText('3 of 5').waitFor()
  expect(await page.getByText('Nearly used up').count()).toBe(0)
  await page.getByLabel('State').selectOption('All')
  await page.getByText('↩ RELEASED').waitFor()
  expect(new URL(page.url()).search).toBe('?reservations=all')
})

test('a rule is made with the keyboard alone, changed, and deleted', async () => {
  const page = await openPage(house, '/quotas', { token: house.tokens.admin })
  await tabTo(page, page.getByRole('button', { name: 'New rule' }))
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'New rule' })
  await dialog.getByLabel('Whose runs').waitFor()
  // To the last choice, in which owners have no names.
  await page.keyboard.type('Those of everyone')
  await tabTo(page, dialog.getByLabel('Runs per day'))
  await page.keyboard.type('many')
  await page.keyboard.press('Enter')
  await dialog.getByText(/expected number|must be/i).waitFor()
  await dialog.getByText('Nothing was changed').waitFor()
  await expectAccessibleInBothSchemes(page)
  await tabTo(page, dialog.getByLabel('Runs per day'))
  await page.keyboard.press('Control+A')
  await page.keyboard.type('2,000')
  await page.keyboard.press('Enter')
  const row = page.getByRole('row').filter({ hasText: 'Everyone together' })
  await row.getByText('Runs per day: 2,000').waitFor()
  await meter(page, 'Runs per day, rule of everyone together').waitFor()
  expect(await house.client.quotas.get('*', { together: true })).toMatchObject({ runs_per_day: 2_000, action: 'block' })

  await row.getByRole('button', { name: /^Edit/ }).click()
  const change = page.getByRole('dialog', { name: 'Rule of everyone together' })
  await change.getByLabel('What happens to a run above a limit').selectOption('Let it wait for approval')
  await change.getByRole('button', { name: 'Replace the rule' }).click()
  await row.getByText('Let it wait for approval').waitFor()

  await row.getByRole('button', { name: /^Delete/ }).click()
  await page.getByRole('button', { name: 'Delete the rule', exact: true }).click()
  await row.waitFor({ state: 'hidden' })
  await expect(house.client.quotas.get('*', { together: true })).rejects.toMatchObject({ code: 'quota-not-found' })
  await page.getByRole('link', { name: 'Runs that wait for approval' }).click()
  await page.waitForURL(`${house.uiUrl}/runs?waiting=approval`)
})

test('an operator looks at any owner, a viewer at their own, and neither can write', async () => {
  await house.client.quotas.put('bob', { runs_per_hour: 7 })
  const operator = await openPage(house, '/quotas?owner=bob', { token: house.tokens.operator })
  await meter(operator, 'Runs per hour, rule of bob').waitFor()
  await operator.getByLabel('Owner').fill('nobody-in-particular')
  await operator.keyboard.press('Enter')
  await operator.getByText('No limit applies to nobody-in-particular').waitFor()
  expect(await operator.getByRole('button', { name: 'New rule' }).count()).toBe(0)

  await house.clientOf('submitter').reservations.create({ ttlSeconds: 600 })
  const viewer = await openPage(house, '/quotas?owner=bob', { token: house.tokens.viewer })
  await meter(viewer, 'Runs at once, rule of alice').waitFor()
  await viewer.getByRole('region', { name: 'Reservations' }).getByText('ACTIVE').first().waitFor()
  expect(await viewer.getByLabel('Owner').count()).toBe(0)
  expect(await viewer.getByRole('button', { name: /New rule|Edit|Delete|Release/ }).count()).toBe(0)
})
