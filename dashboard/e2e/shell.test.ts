/** What surrounds every screen: where the app is found, who may come in, how it looks and what keys do. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectAccessibleInBothSchemes } from './support/axe.ts'
import { startBasePathProxy } from './support/base-path-proxy.ts'
import { openPage, PHONE } from './support/browser.ts'
import { type House, openHouse } from './support/house.ts'
import { hasVisibleFocus, tabTo } from './support/keyboard.ts'
import { expectNoSidewaysScroll } from './support/layout.ts'

let open: House
let closed: House

beforeAll(async () => {
  open = await openHouse()
  closed = await openHouse({ tokens: true })
})
afterAll(() => Promise.all([open?.close(), closed?.close()]))

describe('an open service', () => {
  test('a browser that asks for / is led to the app, which says that it is live', async () => {
    const page = await openPage(open, '/')
    await page.goto(`${open.url}/`)
    expect(new URL(page.url()).pathname).toBe('/ui/')
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Runs' }).waitFor()
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
    await expectAccessibleInBothSchemes(page)
  })

  test('a link deep into it works, an unknown address says so, and the overview is one click away', async () => {
    const page = await openPage(open, '/no/such/place')
    await page.getByRole('heading', { name: 'Nothing here' }).waitFor()
    await expectAccessibleInBothSchemes(page)
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await page.waitForURL(`${open.uiUrl}/`)
    await page.goto(`${open.uiUrl}/workers`)
    expect(await page.getByRole('link', { name: 'Workers' }).getAttribute('aria-current')).toBe('page')
  })

  test('behind a path of a proxy everything works alike', async () => {
    const proxy = await startBasePathProxy(open.url, '/tools/holdfast')
    try {
      const page = await openPage(open, '/runs', { url: proxy.url })
      await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
      await page.getByRole('link', { name: 'Queues' }).click()
      await page.waitForURL(`${proxy.url}/ui/queues`)
      await page.reload()
      expect(await page.getByRole('link', { name: 'Queues' }).getAttribute('aria-current')).toBe('page')
      await page.context().close()
    } finally {
      await proxy.close()
    }
  })

  test('the colours follow the system until they are switched, and stay switched', async () => {
    const page = await openPage(open, '/', { colorScheme: 'dark' })
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    await page.getByRole('button', { name: 'Switch to light' }).waitFor()
    expect(await scheme()).toBe('dark')
    await page.getByRole('button', { name: 'Switch to light' }).click()
    await page.getByRole('button', { name: 'Switch to dark' }).waitFor()
    expect(await scheme()).toBe('light')
    await page.reload()
    await page.getByRole('button', { name: 'Switch to dark' }).waitFor()
    expect(await scheme()).toBe('light')
  })

  test('keys lead everywhere, ? lists them, and the focus is seen', async () => {
    const page = await openPage(open, '/')
    await page.getByRole('link', { name: 'Overview' }).waitFor()
    await page.keyboard.press('?')
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await list.getByText('Go to Runs').waitFor()
    await expectAccessibleInBothSchemes(page)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'hidden' })
    await page.keyboard.press('g')
    await page.keyboard.press('q')
    await page.waitForURL(`${open.uiUrl}/queues`)
    await tabTo(page, page.getByRole('link', { name: 'Workers' }))
    expect(await hasVisibleFocus(page)).toBe(true)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${open.uiUrl}/workers`)
  })

  test('on a phone the screens are behind a button, and nothing scrolls sideways', async () => {
    const page = await openPage(open, '/', { viewport: PHONE })
    const link = page.getByRole('link', { name: 'Runs' })
    await page.getByRole('button', { name: 'Navigation' }).click()
    await link.waitFor()
    await expectNoSidewaysScroll(page)
    await link.click()
    await page.waitForURL(`${open.uiUrl}/runs`)
    await link.waitFor({ state: 'hidden' })
    await expectNoSidewaysScroll(page)
  })
})

describe('a service that asks for tokens', () => {
  test('a token becomes a cookie that no script can read, until one signs out', async () => {
    const page = await openPage(closed, '/queues')
    await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor()
    await expectAccessibleInBothSchemes(page)

    await page.getByRole('textbox', { name: 'Access token' }).fill('hf_live_nobody_0000')
    await page.keyboard.press('Enter')
    const refusal = await (await fetch(`${closed.url}/session`, tokenBody('hf_live_nobody_0000'))).json()
    await page.getByText((refusal as { detail: string }).detail).waitFor()

    await page.getByRole('textbox', { name: 'Access token' }).fill(closed.tokens.admin)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Tokens' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/ui/queues')
    const [cookie, ...others] = await page.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    expect(others).toEqual([])
    const readable = await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }))
    expect(readable).not.toContain(closed.tokens.admin)
    expect(readable).not.toContain(cookie!.value)

    await page.getByRole('button', { name: 'Signed in as alice' }).click()
    await page.getByText('Sign out').click()
    await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor()
  })

  test('a viewer is not led to what only administrators see', async () => {
    const page = await openPage(closed, '/', { token: closed.tokens.viewer })
    await page.getByRole('link', { name: 'Runs' }).waitFor()
    for (const name of ['Submit', 'Tokens', 'Audit']) expect(await page.getByRole('link', { name }).count()).toBe(0)
  })
})

function tokenBody(token: string): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) }
}
