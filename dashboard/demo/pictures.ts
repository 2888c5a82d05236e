/**
 * The pictures of the documentation: which screen, how large, in which colours, and what is to be seen before it is
 * taken.
 */

import type { Page } from 'playwright-core'
import type { Shown } from './now.ts'

export type Picture = {
  /** Of the file, without its ending. */
  name: string
  path: string
  colorScheme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
  /** Beside the heading of the screen: what has to be there, or what to do first. */
  ready?: (page: Page) => Promise<unknown>
}

export function picturesOf({ lost, pair, running, batch }: Shown): Picture[] {
  const [first, second] = pair
  return [
    { name: 'overview', path: '/?range=24h' },
    { name: 'overview-dark', path: '/?range=24h', colorScheme: 'dark' },
    { name: 'runs', path: '/runs' },
    { name: 'run', path: `/runs/${lost}` },
    { name: 'run-live', path: `/runs/${running}` },
    { name: 'compare', path: `/compare?a=${first}&b=${second}` },
    {
      name: 'submit',
      path: '/submit?model=climate_forecast',
      ready: (page) => page.getByRole('textbox', { name: 'region' }).fill('Rhône basin'),
    },
    { name: 'documents', path: `/documents?batch=${batch}` },
    { name: 'phone', path: '/runs', viewport: { width: 375, height: 740 } },
  ]
}
