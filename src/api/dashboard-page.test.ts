import { expect, test } from 'vitest'
import { baseFrom, fillPage, isDashboardPage, pathBelow } from './dashboard-page.ts'

/** What a browser makes of a page at this address. */
function landsAt(page: string, prefix = ''): string {
  const below = pathBelow(page)!
  return new URL(baseFrom(below), `https://proxy.example${prefix}${page}`).pathname
}

test.each([
  '/ui/',
  '/ui/?a=/b/c',
  '/ui/runs',
  '/ui/runs/',
  '/ui/runs/0198c1f0',
  '/ui/runs/0198c1f0/?tab=logs&at=1/2#x/y',
  '/ui//',
  '/ui//runs//x',
  '/ui/queues/a%2Fb',
  '/ui/queues/a%5Cb',
  '/ui/%F0%9F%98%80/x',
  '/ui/..a/...',
  '/ui/a;b=c/d',
])('the base of %s leads to the app, whatever stands in front', (page) => {
  expect(landsAt(page)).toBe('/ui/')
  expect(landsAt(page, '/team/holdfast')).toBe('/team/holdfast/ui/')
})

test('the app is where the browser found it', () => {
  expect(landsAt('/%75i/runs/x')).toBe('/%75i/')
  expect(pathBelow('http://localhost:4600/ui/runs/x?y')).toBe('runs/x')
})

test.each(['/ui/..', '/ui/../runs', '/ui/%2e%2e/runs', '/ui/.%2E/x', '/ui/a/./b', '/ui/%2e', '/ui/a\\..\\b'])(
  'no browser sends %s',
  (url) => {
    expect(pathBelow(url)).toBeNull()
  },
)

test('two lines are filled in, and nothing else changes', () => {
  const built = '<head>\n<base href="./" />\n<meta name="style-nonce" content="" />\n<link href="./x.css"></head>'
  expect(isDashboardPage(built)).toBe(true)
  expect(isDashboardPage('<html></html>')).toBe(false)
  expect(fillPage(built, { base: '../../', nonce: 'abc' })).toBe(
    '<head>\n<base href="../../" />\n<meta name="style-nonce" content="abc" />\n<link href="./x.css"></head>',
  )
})
