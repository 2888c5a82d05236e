/** Documents: handed in by people who were taught nothing, on connections that break. */

import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Upload } from '../../client/src/index.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { until } from '../../test/support/until.ts'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { announce, openPage, PHONE } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { hasVisibleFocus, tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

let house: House
beforeAll(async () => {
  house = await openHouse({ tokens: true })
  await house.startWorker()
})
afterAll(() => house?.close())

type Given = { name: string; text: string }
const given = (count: number, word = 'file'): Given[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `${word}-${index + 1}.txt`,
    text: `${word} ${index} ${randomUUID()}`,
  }))
const buffers = (files: Given[]) =>
  files.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }))

const documentsOf = (path = '/documents', more = {}) =>
  openPage(house, path, { token: house.tokens.submitter, ...more })
const batchOf = (page: Page) => new URL(page.url()).searchParams.get('batch')!
const chip = (page: Page, name: string) => page.getByRole('group', { name: 'Show' }).getByRole('button', { name })
const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })
const choose = (page: Page, files: Given[]) =>
  page.locator('input[data-choose="files"]:enabled').setInputFiles(buffers(files))

async function uploadsOf(batch: string): Promise<Upload[]> {
  const uploads: Upload[] = []
  for await (const upload of house.client.files.list({ batch })) uploads.push(upload)
  return uploads
}

async function runsOf(batchId: string): Promise<number> {
  let count = 0
  for await (const _ of house.client.list({ batch_id: batchId })) count += 1
  return count
}

/** Let go over the page, as a person does it. */
async function drop(page: Page, files: Given[]): Promise<void> {
  const dataTransfer = await page.evaluateHandle((all) => {
    const transfer = new DataTransfer()
    for (const { name, text } of all) transfer.items.add(new File([text], name, { type: 'text/plain' }))
    return transfer
  }, files)
  const box = page.getByRole('region', { name: 'Drop files or a folder here' })
  await box.dispatchEvent('dragenter', { dataTransfer })
  await page.getByText('Let go to hand them in').waitFor()
  await page.getByRole('region', { name: 'Let go to hand them in' }).dispatchEvent('drop', { dataTransfer })
}

test('50 files with duplicates are dropped: every word is right, and what is there already is neither sent nor run again', async () => {
  const [fresh, old] = [given(40, 'new'), given(5, 'old')]
  for (const { name, text } of old) {
    await house.clientOf('submitter').files.upload(new File([text], name), { model: 'documents' })
  }
  const twice = fresh.slice(0, 5).map(({ text }, index) => ({ name: `same-${index + 1}.txt`, text }))
  const again = old.map(({ name, text }) => ({ name: `again-${name}`, text }))
  const page = await documentsOf()
  const sent: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (request.method() === 'POST' && pathname === '/files') sent.push(searchParams.get('name')!)
  })
  await page.getByRole('button', { name: 'Choose files' }).and(page.locator(':enabled')).waitFor()
  await drop(page, [...fresh, ...twice, ...again])
  await page.getByRole('heading', { name: /^50 files, / }).waitFor()
  await chip(page, 'Done 40').waitFor()
  await chip(page, 'Duplicate 10').waitFor()
  await page.getByText('Finished').waitFor()

  const batch = batchOf(page)
  const uploads = await uploadsOf(batch)
  const words = (word: string) => uploads.filter(({ state }) => state === word).map(({ name }) => name)
  expect([words('DONE').length, words('DUPLICATE').length, uploads.length]).toEqual([40, 10, 50])
  expect(sent).toHaveLength(40)
  expect(words('DUPLICATE').filter((name) => sent.includes(name))).toEqual([])
  expect(await runsOf(batch)).toBe(40)

  await chip(page, 'Duplicate').click()
  await page.waitForURL(/state=DUPLICATE/)
  await expect.poll(() => page.getByRole('listitem').count()).toBe(10)
  await row(page, 'again-old-3.txt').getByText('It is not processed twice').waitFor()
  await expectAccessibleInBothSchemes(page)
  await page.reload()
  await chip(page, 'All 50').waitFor()
  await expect.poll(() => page.getByRole('listitem').count()).toBe(10)

  await row(page, 'same-2.txt').getByRole('link', { name: 'new-2.txt' }).click()
  await chip(page, 'All 50').and(page.locator('[aria-pressed="true"]')).waitFor()
  await page.getByText('Download the file').waitFor()
})

test('a document that cannot be read says why and what to do; retried, it is done', async () => {
  const gate = randomUUID()
  const page = await documentsOf()
  await choose(page, [{ name: 'report.txt', text: `broken ${gate} one two` }, ...given(1)])
  const report = row(page, 'report.txt')
  await report.filter({ hasText: /ERROR/ }).waitFor()
  await report.getByText('This document cannot be read: it ends in the middle of a page.').waitFor()
  await report.getByText(/correct it and hand in the new file/).waitFor()
  await expectAccessibleInBothSchemes(page)
  await house.letGo(gate)
  await report.getByRole('button', { name: 'Retry report.txt' }).click()
  await report.filter({ hasText: /DONE/ }).waitFor()
  await chip(page, 'Done 2').waitFor()
  expect((await uploadsOf(batchOf(page))).map(({ state }) => state)).toEqual(['DONE', 'DONE'])

  await report.getByRole('button', { name: 'Result of report.txt' }).click()
  await report.getByText('Words').waitFor()
  await page.reload()
  await row(page, 'report.txt').getByText('Words').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('the service goes away in the middle: it says so, gives up after a while, goes on with a click, and nothing is there twice', async () => {
  let isBack = false
  onTestFinished(async () => {
    if (!isBack) await house.startApi()
  })
  const page = await documentsOf()
  announce(page, /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|ERR_NETWORK|503/)
  await page.clock.install()
  await page.reload()
  const files = [...given(20, 'part'), { name: 'large.txt', text: 'large '.repeat(1_000_000) + randomUUID() }]
  let sent = 0
  await page.route(/\/(files\?name|uploads)/, async (route) => {
    sent += route.request().method() === 'GET' ? 0 : 1
    if (sent === 10) await house.stopApi()
    await route.continue()
  })
  await choose(page, files)
  const away = page.getByRole('status').filter({ hasText: 'Your files are still here' })
  await away.waitFor()
  await expectAccessibleInBothSchemes(page)
  const failed = page.getByRole('alert').filter({ hasText: 'The upload failed: the service could not be reached.' })
  await until(
    async () => {
      await page.clock.fastForward(5_000)
      return failed.isVisible()
    },
    { what: 'it has given up', timeoutMs: 10_000 },
  )
  await failed.getByText(/nothing is lost: keep this page open.*try again/).waitFor()
  await house.startApi()
  isBack = true
  await failed.getByRole('button', { name: 'Try again' }).click()
  await chip(page, 'Done 21').waitFor()
  await page.getByText('Finished').waitFor()
  const uploads = await uploadsOf(batchOf(page))
  expect(uploads.map(({ name }) => name).sort()).toEqual(files.map(({ name }) => name).sort())
  expect(await runsOf(batchOf(page))).toBe(21)
})

test('a page that is closed too early asks first, and the same folder chosen again goes on', async () => {
  const folder = await tempFolder()
  const scans = join(folder.path, 'scans')
  await mkdir(join(scans, 'may'), { recursive: true })
  for (const { name, text } of given(12, 'scan')) await writeFile(join(scans, 'may', name), text)
  await writeFile(join(scans, '.DS_Store'), 'system')
  const page = await documentsOf()
  let sent = 0
  await page.route(/\/files\?name/, async (route) => {
    sent += 1
    // The fifth is on its way for as long as the page is there.
    if (sent < 5) await route.continue()
  })
  await page.locator('input[data-choose="folder"]:enabled').setInputFiles(scans)
  await page.getByRole('heading', { name: /^scans: 12 files, / }).waitFor()
  await chip(page, 'Done 4').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused').waitFor()
  const asked = page.waitForEvent('dialog')
  const reloaded = page.reload()
  await (await asked).accept()
  await reloaded
  await page.unroute(/\/files\?name/)
  await page.getByText('8 of 12 files were not sent yet').waitFor()
  await page.locator('input[data-choose="folder"]:enabled').setInputFiles(scans)
  await chip(page, 'Done 12').waitFor()
  await page.getByText('were not sent yet').waitFor({ state: 'hidden' })
  expect(await uploadsOf(batchOf(page))).toHaveLength(12)
  await folder.remove()
})

test('with the keyboard alone, on a phone', async () => {
  const page = await documentsOf('/documents', { viewport: PHONE })
  const button = page.getByRole('button', { name: 'Choose files' })
  await button.and(page.locator(':enabled')).waitFor()
  await page.getByRole('heading', { name: 'Handed in before' }).waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessibleInBothSchemes(page)
  await tabTo(page, button)
  expect(await hasVisibleFocus(page)).toBe(true)
  // The window of the system that it opens is not ours, and headless browsers do not always have one: it is only asked for.
  const input = page.locator('input[data-choose="files"]:enabled')
  await input.evaluate((one) => {
    one.addEventListener('click', (event) => {
      event.preventDefault()
      one.setAttribute('data-asked', '')
    })
  })
  await page.keyboard.press('Space')
  await page.locator('input[data-asked]').waitFor({ state: 'attached' })
  await choose(page, [{ name: `${'very-long-name-'.repeat(8)}.txt`, text: `one two three ${randomUUID()}` }])
  const result = page.getByRole('button', { name: /^Result of/ })
  await tabTo(page, result)
  await page.keyboard.press('Enter')
  await page.getByRole('definition').filter({ hasText: '4' }).waitFor()
  await expectNoSidewaysScroll(page)
})

test('who may only look sees what became of the files, and cannot hand in or retry', async () => {
  const broken = new File([`broken - ${randomUUID()}`], 'old report.txt')
  const batchId = randomUUID()
  const { run_id: runId } = await house.clientOf('submitter').files.upload(broken, { model: 'documents', batchId })
  await house.reaches(runId!, 'FAILED')
  const page = await openPage(house, '/documents', { token: house.tokens.viewer })
  await page.getByText('not hand in files yourself').waitFor()
  expect(await page.getByRole('button', { name: 'Choose files' }).count()).toBe(0)
  await page
    .getByRole('link', { name: /^Batch of/ })
    .first()
    .click()
  await row(page, 'old report.txt').filter({ hasText: /ERROR/ }).waitFor()
  expect(await page.getByRole('button', { name: /Retry|Hand in/ }).count()).toBe(0)
})
