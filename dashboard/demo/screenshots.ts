/**
 * `npm run screenshots`: takes the pictures of README and docs, into docs/images, from a service of its own with the
 * data of the demo. Names after `--` choose some of them (`npm run screenshots -- runs run`); DEMO_IMAGES names
 * another folder.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import buildFirst from '../e2e/support/build-first.ts'
import { launchChromium } from '../e2e/support/launch-chromium.ts'
import { startDemoHouse } from './demo-house.ts'
import { fillNow } from './now.ts'
import { type Picture, picturesOf } from './pictures.ts'
import { shrinkPng } from './shrink-png.ts'

const DAY_SECONDS = 90
const BYTES_MAX = 250_000
const FOLDER = resolve(process.env.DEMO_IMAGES ?? join(import.meta.dirname, '../../docs/images'))

const say = (line: string) => console.log(`screenshots: ${line}`)

async function take(browser: Browser, url: string, picture: Picture): Promise<void> {
  const context = await browser.newContext({
    colorScheme: picture.colorScheme ?? 'light',
    viewport: picture.viewport ?? { width: 1440, height: 900 },
    deviceScaleFactor: picture.viewport ? 2 : 1,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  try {
    const page = await context.newPage()
    await page.goto(`${url}/ui${picture.path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor({ state: 'attached' })
    // The stream of events is never idle, so what is waited for is that nothing is being loaded.
    await page.waitForFunction(
      () => document.querySelectorAll('[aria-busy="true"], .mantine-Skeleton-root').length === 0,
    )
    await picture.ready?.(page)
    const path = join(FOLDER, `${picture.name}.png`)
    const bytes = shrinkPng(await page.screenshot())
    await writeFile(path, bytes)
    say(`${picture.name}.png, ${Math.round(bytes.length / 1_000)} kB`)
    if (bytes.length > BYTES_MAX) throw new Error(`${path} has ${bytes.length} bytes, more than ${BYTES_MAX}`)
  } finally {
    await context.close()
  }
}

await buildFirst()
await mkdir(FOLDER, { recursive: true })
const house = await startDemoHouse({ port: 0, daySeconds: DAY_SECONDS, say })
try {
  const shown = await fillNow(house)
  const names = new Set(process.argv.slice(2))
  const browser = await launchChromium()
  try {
    for (const picture of picturesOf(shown)) {
      if (names.size === 0 || names.has(picture.name)) await take(browser, house.url, picture)
    }
  } finally {
    await browser.close()
  }
} finally {
  await house.close()
}
