/** Submitting: form and JSON are one, the service judges, one key is one run, and secrets stay where they are. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { hasVisibleFocus, tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

let house: House
let closed: House

beforeAll(async () => {
  house = await openHouse()
  await house.startWorker()
  closed = await openHouse({ tokens: true })
})
afterAll(() => Promise.all([house?.close(), closed?.close()]))

const json = (page: Page) => page.getByLabel('Parameters as JSON')
const value = async (page: Page) => JSON.parse(await json(page).inputValue()) as Record<string, unknown>
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })
const submit = (page: Page) => page.getByRole('button', { name: 'Submit run' }).click()

async function runShown(page: Page): Promise<string> {
  const link = page.getByRole('status').getByRole('link', { name: /^[0-9a-f-]{36}$/ })
  return (await link.textContent())!
}

describe('a service without tokens', () => {
  test('form and JSON show one value; what the service says is shown at the field, and then a run is made', async () => {
    const page = await openPage(house, '/submit')
    await page.getByText('Choose a model').waitFor()
    await page.getByRole('combobox', { name: 'Model' }).fill('forec')
    await page.getByRole('option', { name: 'forecast' }).click()
    await page.getByText('Offered by one live worker').waitFor()
    expect(await value(page)).toMatchObject({ horizon_months: 24, scenario: 'baseline', sectors: [] })

    await field(page, 'horizon_months').fill('1200')
    await page.getByLabel('scenario').selectOption('recession')
    await page.getByRole('button', { name: 'Add to sectors' }).click()
    await field(page, 'sectors 1').fill("it's mining")
    await page.getByLabel('with_intervals').check()
    expect(await value(page)).toMatchObject({
      horizon_months: 1200,
      scenario: 'recession',
      sectors: ["it's mining"],
      with_intervals: true,
    })

    await json(page).fill('{"horizon_months": 1200, "limits": {"floor": 2}, "unknown": [1]}')
    expect(await field(page, 'floor').inputValue()).toBe('2')
    await page.getByText('without a field here: unknown').waitFor()
    await json(page).fill('{"horizon_months": 1200, ')
    await page.getByText('The form waits for the JSON').waitFor()
    expect(await field(page, 'horizon_months').isDisabled()).toBe(true)
    expect(await json(page).inputValue(), 'kept as typed').toBe('{"horizon_months": 1200, ')
    await expectAccessibleInBothSchemes(page)
    await page.getByRole('button', { name: 'Discard the JSON' }).click()
    expect(await value(page)).toEqual({ horizon_months: 1200, limits: { floor: 2 }, unknown: [1] })

    await submit(page)
    const region = field(page, 'region')
    const months = field(page, 'horizon_months')
    await page.getByRole('alert').getByText('must be <= 600').waitFor()
    for (const [field, words] of [
      [region, 'is required'],
      [months, 'must be <= 600'],
    ] as const) {
      expect(await field.getAttribute('aria-invalid')).toBe('true')
      const ids = (await field.getAttribute('aria-describedby'))!.split(' ').filter(Boolean)
      const said = await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).textContent()))
      expect(said.join(' ')).toContain(words)
    }
    const focused = await page.evaluate(() => document.activeElement?.id)
    expect(focused).toMatch(/^parameter/)
    await page
      .getByRole('list', { name: 'What the service says about the JSON' })
      .getByText('/horizon_months')
      .waitFor()
    await expectAccessibleInBothSchemes(page)

    await json(page).fill('{"region": "AU", "horizon_months": 12}')
    await submit(page)
    await page.getByText('A new run was made').waitFor()
    const runId = await runShown(page)
    await page.getByRole('status').getByText('SUCCEEDED').waitFor()
    expect(await house.client.get(runId)).toMatchObject({
      model: 'forecast',
      parameters: { region: 'AU', horizon_months: 12 },
    })
  })

  test('the same key makes one run; a used key is explained, and a changed request gets a new one', async () => {
    const page = await openPage(house, '/submit?model=quick')
    await page.getByText('Other options').click()
    const key = field(page, 'Idempotency key')
    const first = await key.inputValue()
    await field(page, 'Title').fill('Once')
    await page.getByRole('button', { name: 'Submit run' }).dblclick()
    await page.getByText('A new run was made').waitFor()
    const runId = await runShown(page)
    await submit(page)
    await page.getByText('An existing run was matched').waitFor()
    expect(await runShown(page)).toBe(runId)
    expect(await key.inputValue()).toBe(first)
    expect((await house.client.listPage({ model: 'quick' })).data).toHaveLength(1)
    await expectAccessibleInBothSchemes(page)

    await field(page, 'name').fill('other')
    await submit(page)
    await page.getByText('A new run was made').waitFor()
    expect(await key.inputValue()).not.toBe(first)

    await key.fill(first)
    await submit(page)
    await page.getByText('This key belongs to another request').waitFor()
    expect(await page.getByRole('alert').getByRole('link').getAttribute('href')).toContain(runId)
    await page.getByRole('button', { name: 'Take a new key' }).click()
    await field(page, 'Priority').fill('high')
    await submit(page)
    await page.getByRole('alert').getByRole('button', { name: 'priority' }).waitFor()
    expect(await field(page, 'Priority').getAttribute('aria-invalid')).toBe('true')
    await page.getByText('The same with curl').click()
    expect(await page.locator('pre').textContent()).toContain(`curl '${house.url}/runs'`)
  })

  test('edit and run again: secrets stay hidden, and the new run has the true value', async () => {
    const source = await house.submit(
      'forecast',
      { region: 'NZ', api_key: 'true-value' },
      { title: 'Source', tags: ['a'] },
    )
    const page = await openPage(house, `/submit?from=${source}`)
    await page.getByRole('heading', { name: 'Edit and run again' }).waitFor()
    const hidden = page.getByLabel('api_key', { exact: true })
    expect(await hidden.inputValue()).toBe('[redacted]')
    await page.getByText('it is not shown to you').waitFor()
    await field(page, 'horizon_months').fill('48')
    await submit(page)
    await page.getByText('A new run was made').waitFor()
    const runId = await runShown(page)
    const [stored] = await house.db.query('SELECT parameters, title FROM model_runs WHERE id = $1', [runId])
    expect(stored).toMatchObject({ parameters: { api_key: 'true-value', horizon_months: 48 }, title: 'Source' })
    expect(await page.content()).not.toContain('true-value')

    await page.getByRole('button', { name: 'Enter another: api_key' }).click()
    await hidden.fill('typed-secret')
    expect(await json(page).inputValue(), 'dots in the JSON').toContain('••••••••')
    expect(await page.locator('pre').textContent()).not.toContain('typed-secret')
    await submit(page)
    await page.getByText('A new run was made').waitFor()
  })

  test('with the keyboard alone, on a phone', async () => {
    const page = await openPage(house, '/submit', { viewport: PHONE })
    await tabTo(page, page.getByRole('combobox', { name: 'Model' }))
    await page.keyboard.type('forec')
    await page.getByRole('option', { name: 'forecast' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await tabTo(page, field(page, 'region'))
    await page.keyboard.type('KI')
    await tabTo(page, page.getByRole('button', { name: 'Add to sectors' }))
    expect(await hasVisibleFocus(page)).toBe(true)
    await page.keyboard.press('Enter')
    await field(page, 'sectors 1').waitFor()
    await page.keyboard.type('fishing')
    await expectNoSidewaysScroll(page)
    await page.keyboard.press('Control+Enter')
    await page.getByText('A new run was made').waitFor()
    const run = await house.client.get(await runShown(page))
    expect(run.parameters).toMatchObject({ region: 'KI', sectors: ['fishing'] })
    await expectNoSidewaysScroll(page)
  })
})

describe('a service with tokens', () => {
  test('a viewer is told why not', async () => {
    const page = await openPage(closed, '/submit?model=quick', { token: closed.tokens.viewer })
    await page.getByText('You may look, but not submit runs').waitFor()
    expect(await page.getByRole('button', { name: 'Submit run' }).count()).toBe(0)
  })

  test('a quota that is used up names who holds it, and nobody is there to run it', async () => {
    await closed.client.quotas.put('alice', { max_concurrent: 1 })
    const holder = await closed.submit('quick')
    const page = await openPage(closed, '/submit?model=quick', { token: closed.tokens.submitter })
    await page.getByText('No live worker offers this version').waitFor()
    await submit(page)
    const refusal = page.getByRole('alert')
    await refusal.getByText('Quota exceeded: Maximum 1 concurrent runs allowed').waitFor()
    expect(await refusal.getByRole('link').first().getAttribute('href')).toContain(holder)
    await page.getByText('The same with curl').click()
    expect(await page.locator('pre').textContent()).toContain('$HOLDFAST_TOKEN')
  })
})
