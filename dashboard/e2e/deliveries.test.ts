/** Webhooks and mail: registered, tried, followed to their deliveries; what died is sent again; a mail can be read. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyWebhook } from '../../client/src/index.ts'
import { until } from '../../test/support/until.ts'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type HookReceiver, startHookReceiver } from './support/hook-receiver.ts'
import { type House, openHouse } from './support/house.ts'
import { tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

let house: House
let receiver: HookReceiver

beforeAll(async () => {
  receiver = await startHookReceiver()
  house = await openHouse({ tokens: true, settings: { HOLDFAST_DELIVERY_DELAYS_SECONDS: '0.05' } })
  await house.startRelay()
})
afterAll(async () => {
  await house?.close()
  await receiver?.close()
})

test('a webhook is registered, its secret shown once, and a test leads to its delivery', async () => {
  const page = await openPage(house, '/receivers', { token: house.tokens.submitter })
  await page.getByText('No webhooks yet').waitFor()
  await page.getByRole('button', { name: 'New webhook' }).click()
  const form = page.getByRole('dialog', { name: 'New webhook' })
  await form.getByRole('button', { name: 'None' }).click()
  await form.getByLabel('Address').fill('http://10.0.0.1/hook')
  await form.getByRole('button', { name: 'Register the webhook' }).click()
  await form.getByText('Nothing was changed').waitFor()
  await expectAccessibleInBothSchemes(page)
  await form.getByLabel('A run succeeded').check()
  await form.getByRole('button', { name: 'Register the webhook' }).click()
  // The address is not one that webhooks may go to, and the service says why.
  await form.locator('input[aria-invalid="true"]').waitFor()
  await form.getByLabel('Address').fill(receiver.url)
  await form.getByRole('button', { name: 'Register the webhook' }).click()
  const made = page.getByRole('dialog', { name: 'The webhook is registered' })
  const secret = (await made.getByLabel('The secret', { exact: true }).textContent())!
  expect(secret).toMatch(/^whsec_/)
  await expectAccessibleInBothSchemes(page)
  await made.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('row').filter({ hasText: receiver.url }).getByText('ENABLED').waitFor()
  expect(await page.content()).not.toContain(secret)

  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('link', { name: 'See how it goes' }).click()
  const delivery = page.getByRole('dialog', { name: 'Delivery: Test' })
  await delivery.getByText('It arrived.').waitFor()
  await delivery.getByText('Response of try 1').waitFor()
  await expectAccessibleInBothSchemes(page)
  const [got] = receiver.received
  expect(await verifyWebhook(got!.body, got!.headers as Record<string, string>, secret)).toMatchObject({ type: 'test' })
})

test('what died stands out, and is sent again with the keyboard alone', async () => {
  const { webhook_id } = await house.client.webhooks.create({ url: receiver.url, events: ['run.created'] })
  receiver.answerWith(500)
  receiver.received.length = 0
  const runId = await house.submit('quick', { name: 'told' })
  const page = await openPage(house, `/deliveries?receiver=${webhook_id}`, { token: house.tokens.submitter })
  await page.getByRole('row').filter({ hasText: 'DEAD' }).getByText('answered 500').waitFor()
  await page.reload()
  await page.getByText('1 did not arrive').waitFor()
  await expectAccessibleInBothSchemes(page)
  await page.getByRole('link', { name: 'Show the dead ones' }).click()
  await page.waitForURL(/\?state=DEAD$/)

  await tabTo(page, page.getByRole('link', { name: 'A run was accepted' }))
  await page.keyboard.press('Enter')
  const delivery = page.getByRole('dialog', { name: 'Delivery: A run was accepted' })
  await delivery.getByRole('link', { name: runId }).waitFor()
  await delivery.getByText('It was tried 2 times, and is not tried again by itself.').waitFor()
  await delivery.getByText('no room left').last().waitFor()
  await expectAccessibleInBothSchemes(page)
  receiver.answerWith(204)
  await tabTo(page, delivery.getByRole('button', { name: 'Send again' }))
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByRole('button', { name: 'Send it again' }))
  await page.keyboard.press('Enter')
  await delivery.getByText(/^It arrived/).waitFor()
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(ids.length).toBe(3)
  expect(new Set(ids).size).toBe(1)
  await page.keyboard.press('Escape')
  // The list behind the dialog may be empty before the dialog has gone.
  await page.waitForURL(/\?state=DEAD$/)
  await page.getByText('Nothing fits').waitFor()
})

test('a mail address is added, and the mail it got can be read on a phone', async () => {
  const page = await openPage(house, '/receivers', { token: house.tokens.submitter, viewport: PHONE })
  await page.getByRole('button', { name: 'New mail address' }).click()
  const form = page.getByRole('dialog', { name: 'New mail address' })
  await form.getByLabel('Mail address').fill('not an address')
  await form.getByRole('button', { name: 'Add the address' }).click()
  await form.getByText('must be a mail address such as ada@example.org').waitFor()
  await expectAccessibleInBothSchemes(page)
  await form.getByLabel('Mail address').fill('ada@example.org')
  await form.getByRole('button', { name: 'Add the address' }).click()
  const row = page.getByRole('row').filter({ hasText: 'ada@example.org' })
  await row.getByRole('button', { name: 'Send a test' }).click()
  await expectNoSidewaysScroll(page)
  await page.getByRole('link', { name: 'See how it goes' }).click()
  const delivery = page.getByRole('dialog', { name: 'Delivery: Test' })
  await delivery.getByText('It arrived.').waitFor()
  await delivery.getByText('Mail from Holdfast arrives').first().waitFor()
  await delivery.getByText('Somebody asked for this mail to see whether it arrives.').waitFor()
  await delivery.getByRole('button', { name: 'Show the HTML version as source' }).click()
  await delivery.getByText('<html', { exact: false }).waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessibleInBothSchemes(page)
})

test('a webhook gets a new secret, is enabled again after it was disabled, and is deleted', async () => {
  const url = `${receiver.url}/other`
  const { webhook_id, secret } = await house.client.webhooks.create({ url, events: ['run.failed'] })
  await house.client.webhooks.change(webhook_id, { enabled: false })
  const page = await openPage(house, '/receivers', { token: house.tokens.submitter })
  const row = page.getByRole('row').filter({ hasText: url })
  await row.getByText('DISABLED').first().waitFor()
  await row.getByRole('button', { name: 'Enable again' }).click()
  await row.getByText('✓ ENABLED').waitFor()
  await expectAccessibleInBothSchemes(page)
  const act = async (name: string) => {
    await row.getByRole('button', { name: `More acts on ${url}` }).click()
    await row.getByRole('button', { name, exact: true }).click()
  }
  await act('New secret')
  await page.getByRole('button', { name: 'Make a new secret' }).click()
  const shown = await page.getByLabel('The secret', { exact: true }).textContent()
  expect(shown).toMatch(/^whsec_/)
  expect(shown).not.toBe(secret)
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await act('Delete')
  await page.getByRole('button', { name: 'Delete the webhook' }).click()
  await row.waitFor({ state: 'hidden' })
  await until(
    async () => (await house.client.webhooks.get(webhook_id).catch(({ code }) => code)) === 'webhook-not-found',
    {
      what: 'the webhook is gone',
    },
  )
})

test('a viewer looks and is offered no acts', async () => {
  const page = await openPage(house, '/receivers', { token: house.tokens.viewer })
  await page.getByRole('row').filter({ hasText: 'ada@example.org' }).waitFor()
  const acts = page.getByRole('main').getByRole('button', { name: /New|Send|More acts|Enable/ })
  expect(await acts.count()).toBe(0)
})
