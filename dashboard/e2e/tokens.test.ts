/**
 * Tokens: made, shown once, used, revoked, and found in the audit; the first one of an open service; and who sees none
 * of it.
 */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { Holdfast } from '../../client/src/index.ts'
import { until } from '../../test/support/until.ts'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

let house: House

beforeAll(async () => {
  house = await openHouse({ tokens: true })
})
afterAll(() => house?.close())

test('a token is made with the keyboard alone, works, is shown once, and ends when it is revoked', async () => {
  const page = await openPage(house, '/tokens', { token: house.tokens.admin })
  await page.getByText('You are signed in with it').waitFor()
  await expectAccessibleInBothSchemes(page)
  await tabTo(page, page.getByRole('button', { name: 'New token' }))
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'New token' })
  await tabTo(page, form.getByRole('radio', { name: 'submitter' }))
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => form.getByRole('radio', { name: 'viewer' }).isChecked()).toBe(true)
  await expectAccessibleInBothSchemes(page)
  await tabTo(page, form.getByLabel('Owner'))
  await page.keyboard.press('Control+A')
  await page.keyboard.type('bøb')
  await page.keyboard.press('Enter')
  await form.getByText('must be 1 to 255 printable ASCII characters').waitFor()
  await tabTo(page, form.getByLabel('Owner'))
  await page.keyboard.press('Control+A')
  await page.keyboard.type('bob')
  await tabTo(page, form.getByLabel('Name'))
  await page.keyboard.type('night shift')
  await tabTo(page, form.getByLabel('Ends'))
  await page.keyboard.type('In a week')
  await tabTo(page, form.getByRole('button', { name: 'Make the token' }))
  await page.keyboard.press('Enter')

  const shown = page.getByRole('dialog', { name: 'Token “night shift”' })
  const text = (await shown.getByLabel('The token', { exact: true }).textContent())!
  await expectAccessibleInBothSchemes(page)
  const bob = new Holdfast({ url: house.url, token: text, retries: 0 })
  expect(await bob.session.get()).toMatchObject({ role: 'viewer', owner: 'bob' })
  await shown.getByRole('button', { name: 'I have kept it' }).click()
  const row = page.getByRole('row').filter({ hasText: 'night shift' })
  await row.getByText('ENDS SOON').waitFor()
  const kept = await page.evaluate(
    () => document.body.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage }),
  )
  expect(kept).not.toContain(text)

  await row.getByRole('button', { name: 'Revoke night shift' }).click()
  const sure = page.getByRole('dialog', { name: 'Revoke the token “night shift”?' })
  await sure.getByText('are refused within seconds').waitFor()
  await expectAccessibleInBothSchemes(page)
  await sure.getByRole('button', { name: 'Revoke the token' }).click()
  await row.getByText('⊘ REVOKED').waitFor()
  await until(async () => (await bob.session.get()).role === null, { what: 'the token is refused' })

  await page.getByRole('button', { name: 'Revoke admin token' }).click()
  await page.getByText('You are signed in with this token').waitFor()
  await page.getByRole('button', { name: 'Keep as it is' }).click()
  await page.setViewportSize(PHONE)
  await expectNoSidewaysScroll(page)
})

test('the audit tells who did what, in words, with a way to it', async () => {
  await house.client.queues.pause('default')
  await house.client.queues.resume('default')
  const page = await openPage(house, '/audit', { token: house.tokens.admin })
  await page.getByRole('row').filter({ hasText: 'Paused a queue' }).getByRole('link', { name: 'default' }).waitFor()
  await page.getByLabel('What').selectOption('Revoked a token')
  const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'Revoked a token' }) })
  await row.getByText('Show', { exact: true }).click()
  await row.getByText('"night shift"').waitFor()
  await expectAccessibleInBothSchemes(page)
  await row.getByRole('link').last().click()
  await page.getByText('Only one token is shown.').waitFor()
  await page.getByRole('row').filter({ hasText: 'night shift' }).waitFor()
  await page.goBack()
  expect(await page.getByLabel('What').inputValue()).toBe('token.revoke')
  await page.setViewportSize(PHONE)
  await expectNoSidewaysScroll(page)
})

test('a viewer sees neither tokens nor the audit', async () => {
  const page = await openPage(house, '/tokens', { token: house.tokens.viewer })
  await page.getByText('Tokens are for administrators').waitFor()
  expect(await page.getByRole('button', { name: 'New token' }).count()).toBe(0)
  await page.goto(`${house.uiUrl}/audit`)
  await page.getByText('The audit is for administrators').waitFor()
})

test('the first token of an open service signs the page in before the door closes', async () => {
  const open = await openHouse({ settings: { HOLDFAST_ACCESS: 'auto' } })
  try {
    const page = await openPage(open, '/tokens')
    await page.getByText('No tokens yet').waitFor()
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByText('The first token ends open access').waitFor()
    await expectAccessibleInBothSchemes(page)
    await page.getByRole('button', { name: 'Make the token' }).click()
    const text = await page.getByLabel('The token', { exact: true }).textContent()
    expect(await new Holdfast({ url: open.url, retries: 0 }).session.get()).toMatchObject({ role: null })
    expect(await new Holdfast({ url: open.url, token: text! }).session.get()).toMatchObject({ role: 'admin' })
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByText('You are signed in with it').waitFor()
  } finally {
    await open.close()
  }
})
