/** One run on its screen: how it goes on without a reload, what became of it, what it holds, and what one may do with it. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type House, openHouse, type Stoppable } from './support/house.ts'
import { hasVisibleFocus, tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

const ATTACK = '<img src=x onerror="globalThis.attacked = true">'
const SECRET = 'a word that nobody may see'

let house: House
let worker: Stoppable

beforeAll(async () => {
  house = await openHouse({ tokens: true })
})
afterAll(() => house?.close())

const at = (runId: string, tab?: string) => `/runs/${runId}${tab ? `?tab=${tab}` : ''}`
const open = (path: string, more = {}) => openPage(house, path, { token: house.tokens.operator, ...more })
const state = (page: Page, name: string) =>
  page.getByRole('main').getByRole('status').filter({ hasText: name }).first().waitFor()

describe('without a worker', () => {
  test('a run says what it waits for, that changes by itself, and it is cancelled at once', async () => {
    const runId = await house.submit('quick')
    const page = await open(at(runId))
    await page.getByText('No worker takes it').waitFor()
    await expectAccessibleInBothSchemes(page)
    await house.client.queues.pause('default')
    await page.getByText('The queue default is paused.').waitFor()
    await house.client.queues.resume('default')
    await page.getByText('No live worker serves the queue default.').waitFor()

    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'Cancel this run?' })
    await dialog.getByText('It has not started and ends at once.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel the run' }).click()
    await state(page, 'CANCELLED')
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0)
  })

  test('a run that does not exist is told as such', async () => {
    const page = await open(at('01890a0b-0c0d-7000-8000-000000000000'))
    await page.getByText('There is no run with this id.').waitFor()
    await expectAccessibleInBothSchemes(page)
  })

  test('the death of a worker is seen: the lost attempt, and the second one that goes on', async () => {
    const first = await house.startWorkerProcess()
    const runId = await house.submit('slow')
    const page = await open(at(runId))
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByRole('img', { name: /^Attempt 1: worked, RUNNING/ }).waitFor()
    first.kill('SIGKILL')
    const second = await house.startWorker()
    await timeline.getByRole('img', { name: /^Attempt 1: worked, LOST/ }).waitFor()
    await timeline.getByRole('img', { name: /The lease was lost/ }).waitFor()
    await timeline.getByRole('img', { name: /^Attempt 2: worked, RUNNING/ }).waitFor()
    await house.letGo(runId)
    await timeline.getByRole('img', { name: /^Attempt 2: worked, SUCCEEDED/ }).waitFor()
    await state(page, 'SUCCEEDED')
    const rows = page.getByRole('region', { name: 'Attempts' }).getByRole('row')
    expect(await rows.nth(1).textContent()).toContain('WorkerLost')
    await expectAccessibleInBothSchemes(page)
    await second.stop()
  })
})

describe('with a worker', () => {
  beforeAll(async () => {
    worker = await house.startWorker()
  })
  afterAll(() => worker?.stop())

  test('a run goes from PENDING to SUCCEEDED without a reload, with progress, log and result', async () => {
    await house.client.queues.pause('default')
    const runId = await house.submit('slow', { name: 'x' }, { title: 'Nightly forecast', tags: ['nightly'] })
    const page = await open(at(runId))
    await state(page, 'PENDING')
    await house.client.queues.resume('default')
    await state(page, 'RUNNING')
    await page.getByRole('main').getByText('1 of 4').first().waitFor()
    await page.getByRole('tab', { name: 'Logs' }).click()
    await page.getByText('attempt 1 has begun').waitFor()
    await house.letGo(runId)
    await page.getByText('told to end').waitFor()
    await state(page, 'SUCCEEDED')
    await expectAccessibleInBothSchemes(page)
    await page.keyboard.press('5')
    await page.getByRole('tree', { name: 'Result' }).getByText('attempt').waitFor()
    expect(page.url()).toContain('tab=result')
    await expectAccessibleInBothSchemes(page)
    await page.getByRole('tab', { name: 'Events' }).click()
    for (const what of ['Created', 'Attempt started', 'Succeeded'])
      await page.getByRole('cell', { name: what, exact: true }).waitFor()
    await expectAccessibleInBothSchemes(page)
    expect(await page.getByRole('link', { name: 'nightly', exact: true }).getAttribute('href')).toContain('tag=nightly')
  })

  test('a running run is stopped, and a failed one is retried from its failed step', async () => {
    const running = await house.submit('slow')
    const page = await open(at(running))
    await state(page, 'RUNNING')
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel this run?' })
    await dialog.getByText('Its worker is told to stop it.').waitFor()
    await expectAccessibleInBothSchemes(page)
    await dialog.getByRole('button', { name: 'Cancel the run' }).click()
    await state(page, 'CANCELLED')

    const gate = `run-gate-${running}`
    const failed = await house.submit('steps', { failUntil: gate })
    await house.reaches(failed, 'FAILED')
    await page.goto(`${house.uiUrl}${at(failed)}`)
    const error = page.getByRole('region', { name: 'Error', exact: true })
    await error.getByText('the solver did not converge').first().waitFor()
    await error.getByText('Stack').click()
    await page
      .getByRole('region', { name: 'Timeline' })
      .getByRole('img', { name: /^fit: step, FAILED/ })
      .waitFor()
    await expectAccessibleInBothSchemes(page)
    await house.letGo(gate)
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('button', { name: 'From the failed step' }).click()
    await page.getByText('This is the new run.').waitFor()
    await state(page, 'SUCCEEDED')
    await page.getByRole('region', { name: 'Steps' }).getByText('taken over from').waitFor()
    await page.getByRole('link', { name: 'Compare with the run before' }).waitFor()
    const about = page.getByRole('region', { name: 'About this run' })
    await about.getByRole('link', { name: failed.slice(0, 8) }).click()
    await state(page, 'FAILED')
    await about.getByText('Retried by').waitFor()
    await about.getByText('SUCCEEDED').waitFor()
  })

  test('what people wrote is shown as it is and does nothing; what is secret is not shown', async () => {
    const more = { title: ATTACK, tags: [ATTACK] }
    const done = await house.submit('quick', { name: ATTACK, api_key: SECRET, [ATTACK]: `\u001b[31m${ATTACK}` }, more)
    const failed = await house.submit('failing', { message: ATTACK }, more)
    await house.reaches(done, 'SUCCEEDED')
    await house.reaches(failed, 'FAILED')
    const page = await open(at(done))
    await page.getByRole('heading', { name: ATTACK }).waitFor()
    await page.getByRole('tab', { name: 'Parameters' }).click()
    await page.getByText('[redacted]').waitFor()
    expect((await page.content()).includes(SECRET)).toBe(false)
    await page
      .getByRole('tree')
      .getByText(`"${ATTACK.replaceAll('"', '\\"')}"`)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Raw' }).click()
    await page.getByText(/"api_key": "\[redacted\]"/).waitFor()
    await page.getByRole('tab', { name: 'Logs' }).click()
    await page.getByText(`info: hello ${ATTACK}`).waitFor()
    expect((await page.content()).includes(SECRET)).toBe(false)
    await page.getByRole('tab', { name: 'Result' }).click()
    await page.getByRole('tree').getByText('greeting').waitFor()
    await page.goto(`${house.uiUrl}${at(failed)}`)
    await page.getByRole('region', { name: 'Error', exact: true }).getByText(ATTACK).first().waitFor()
    expect(await page.evaluate(() => 'attacked' in globalThis)).toBe(false)
    expect(await page.locator('main img').count()).toBe(0)
  })

  test('a viewer sees all of it and can change nothing', async () => {
    const runId = await house.submit('slow')
    const page = await open(at(runId), { token: house.tokens.viewer })
    await state(page, 'RUNNING')
    await page.getByRole('link', { name: 'Compare with…' }).waitFor()
    for (const name of ['Cancel', 'Retry', 'Edit and run again']) {
      expect(await page.getByRole('main').getByText(name, { exact: true }).count()).toBe(0)
    }
    await page.keyboard.press('c')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await house.letGo(runId)
    await state(page, 'SUCCEEDED')
  })

  test('the keyboard is enough: tabs, the tree of the parameters, and a retry', async () => {
    const runId = await house.submit('quick', { name: 'keys', inner: { deep: 'treasure' } })
    await house.reaches(runId, 'SUCCEEDED')
    const page = await open(at(runId, 'parameters'), { viewport: PHONE })
    const tree = page.getByRole('tree', { name: 'Parameters' })
    await tabTo(page, page.getByLabel('Search in names and values'))
    await page.keyboard.type('treasure')
    await page.getByText('1 of 1').waitFor()
    await tabTo(page, tree)
    expect(await hasVisibleFocus(page)).toBe(true)
    await page.getByText('inner.deep').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    expect(await tree.getByText('treasure').count()).toBe(1)
    expect(await tree.getByRole('treeitem', { name: /inner/ }).getAttribute('aria-expanded')).toBe('false')
    await expectNoSidewaysScroll(page)
    await expectAccessibleInBothSchemes(page)
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog', { name: 'Retry this run?' })
    await tabTo(page, dialog.getByRole('button', { name: 'Retry' }))
    await page.keyboard.press('Enter')
    await page.getByText('This is the new run.').waitFor()
    await page.getByRole('term').filter({ hasText: 'Retry of' }).waitFor()
    await expectNoSidewaysScroll(page)
  })
})
