/** Queues, workers and models: what operators see and do, and what others see of it. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type House, openHouse, type Stoppable } from './support/house.ts'
import { hasVisibleFocus, tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

describe('an operator', () => {
  let house: House
  let worker: Stoppable

  beforeAll(async () => {
    house = await openHouse()
    worker = await house.startWorker()
  })
  afterAll(() => house?.close())

  test('pauses a queue with keys alone, sees it on the overview and resumes it there', async () => {
    const running = await house.submit('slow')
    await house.reaches(running, 'RUNNING')
    const page = await openPage(house, '/queues')
    const row = page.getByRole('row').filter({ hasText: 'default' })
    await row.getByText('SERVED').waitFor()
    await row.getByRole('img', { name: 'Slots in use: 1 of 8' }).waitFor()

    await tabTo(page, page.getByRole('button', { name: 'Pause queue default' }))
    expect(await hasVisibleFocus(page)).toBe(true)
    await page.keyboard.press('Enter')
    const question = page.getByRole('dialog', { name: 'Pause queue default?' })
    await question.getByText('Nothing waits in it now. What runs goes on (1).').waitFor()
    await expectAccessibleInBothSchemes(page)
    await tabTo(page, question.getByRole('button', { name: 'Pause' }))
    await page.keyboard.press('Enter')
    await row.getByText('PAUSED').waitFor()
    await question.waitFor({ state: 'hidden' })
    expect((await house.client.queues.get('default')).paused).toBe(true)

    const waiting = await house.submit('quick')
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    const item = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem')
    const paused = item.filter({ hasText: 'Queue default is paused' })
    await paused.getByText('1 waiting').waitFor()
    await paused.getByRole('link', { name: 'Open the queue' }).click()
    const dialog = page.getByRole('dialog', { name: 'Queue default' })
    await dialog.getByRole('button', { name: 'Resume…' }).click()
    const resume = page.getByRole('dialog', { name: 'Resume queue default?' })
    await resume.getByText('1 waiting run may start').waitFor()
    await resume.getByRole('button', { name: 'Resume' }).click()
    await dialog.getByText('SERVED').waitFor()
    await house.reaches(waiting, 'SUCCEEDED')
    await house.letGo(running)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.waitForURL(`${house.uiUrl}/queues`)
    await page.goto(`${house.uiUrl}/`)
    await page.getByRole('group', { name: 'Workers alive' }).getByText('1', { exact: true }).waitFor()
    await page.getByText('Looking…').waitFor({ state: 'hidden' })
    await paused.waitFor({ state: 'hidden' })
  })

  test('shares a queue among owners, and is told what is wrong with a weight', async () => {
    const page = await openPage(house, '/queues?queue=default')
    const dialog = page.getByRole('dialog', { name: 'Queue default' })
    await dialog.getByLabel('Fair among owners').focus()
    await page.keyboard.press('Space')
    await dialog.getByRole('button', { name: 'Add a weight' }).click()
    await dialog.getByLabel('Owner', { exact: true }).fill('alice')
    await dialog.getByLabel('Weight of alice', { exact: true }).fill('0')
    await dialog.getByText('From 0.01 to 1000').waitFor()
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await expectAccessibleInBothSchemes(page)
    await dialog.getByLabel('Weight of alice', { exact: true }).fill('2.5')
    await page.keyboard.press('Enter')
    await page.getByText('Queue default is saved.').waitFor()
    expect(await house.client.queues.get('default')).toMatchObject({ fair_share: true, weights: { alice: 2.5 } })
    await dialog.getByRole('button', { name: 'Remove the weight of alice' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await until(async () => Object.keys((await house.client.queues.get('default')).weights).length === 0, {
      what: 'the weight is gone',
    })
  })

  test('reads what a model takes and goes on from there', async () => {
    const page = await openPage(house, '/models')
    await page.getByRole('searchbox', { name: 'Find a model' }).fill('every kind')
    await page.waitForURL(/text=every/)
    await page.getByRole('link', { name: 'forecast', exact: true }).click()
    await page.waitForURL(/models\?model=forecast/)
    await page.getByRole('heading', { name: 'forecast', level: 1 }).waitFor()
    const row = page.getByRole('row').filter({ hasText: 'horizon_months' })
    await row.waitFor()
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      'horizon_months',
      'integer',
      '24',
      'at least 1, at most 600',
      '–',
    ])
    await page.getByRole('row').filter({ hasText: 'limits.floor' }).waitFor()
    await page.getByText('"additionalProperties": false').first().waitFor()
    await page.getByText('OFFERED BY 1').first().waitFor()
    const hrefs = await page.locator('main a').evaluateAll((found) => found.map((one) => one.getAttribute('href')))
    expect(hrefs).toEqual(
      expect.arrayContaining([
        '/ui/submit?model=forecast',
        '/ui/runs?model=forecast',
        '/ui/runs?model=forecast&status=FAILED',
        '/ui/queues?queue=default',
      ]),
    )
    await expectAccessibleInBothSchemes(page)
    await page.setViewportSize(PHONE)
    await expectNoSidewaysScroll(page)
    await page.goto(`${house.uiUrl}/models?model=nothing-such`)
    await page.getByRole('alert').getByText('nothing-such').first().waitFor()
  })

  test('sees who works and who has stopped', async () => {
    const page = await openPage(house, '/workers?state=live', { viewport: PHONE })
    const [live] = await workersOf(house, 'live')
    const row = page.getByRole('row').filter({ hasText: live!.worker_id })
    await row.getByText('LIVE').waitFor()
    await row.getByText(`${live!.host} · process ${live!.pid}`).waitFor()
    await row.getByRole('button', { name: /more models/ }).click()
    await row.getByRole('link', { name: 'steps@1' }).waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessibleInBothSchemes(page)
    await worker.stop()
    await page.getByText('No worker is alive').waitFor()
    await page.getByRole('radiogroup', { name: 'State' }).getByText('Stopped').click()
    await page.waitForURL(/state=stopped/)
    await row.getByText('STOPPED').waitFor()
    await page.goto(`${house.uiUrl}/workers?worker=${live!.worker_id}`)
    await row.waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
  })
})

test('a viewer sees queues and models, and is offered nothing they may not do', async () => {
  const house = await openHouse({ tokens: true })
  try {
    const page = await openPage(house, '/queues?queue=default', { token: house.tokens.viewer })
    const dialog = page.getByRole('dialog', { name: 'Queue default' })
    await dialog.getByText('Runs start by priority and age, whoever owns them.').waitFor()
    expect(await page.getByRole('button', { name: /Pause|Save|Add a weight/ }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('table').getByText('default').waitFor()
    await expectAccessibleInBothSchemes(page)
    expect(await page.getByRole('button', { name: /Pause/ }).count()).toBe(0)
    await page.goto(`${house.uiUrl}/models?model=forecast`)
    await page.getByRole('link', { name: 'Its failures' }).waitFor()
    expect(await page.getByRole('link', { name: 'Submit a run' }).count()).toBe(0)
    await page.goto(`${house.uiUrl}/workers`)
    await page.getByText('Workers are shown to operators').waitFor()
    await page.context().close()
  } finally {
    await house.close()
  }
})

async function workersOf(house: House, state: 'live') {
  return Array.fromAsync(house.client.workers.list({ state }))
}
