/** Holds what the dashboard may import and do: it reaches the API through the client alone, shows what users wrote as text only, and loads each screen when it is shown. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../dashboard/src')
const LINES_MAX = 400
const PACKAGE = JSON.parse(readFileSync(join(ROOT, '../package.json'), 'utf8'))
const PACKAGES = ['@holdfast/client', ...Object.keys(PACKAGE.dependencies)]

type Import = { to: string; isLazy: boolean }
type Source = { path: string; text: string; code: string; imports: Import[] }

const STATIC = /(?:^|[\s;}])(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*['"]([^'"]+)['"]/g
const LAZY = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

/** Without comments, which may name what code must not use. */
function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1')
}

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
const sources: Source[] = files
  .filter((path) => /\.(tsx?|css)$/.test(path))
  .map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const code = codeOf(text)
    const at = (specifier: string) =>
      specifier.startsWith('.') ? relative(ROOT, resolve(dirname(join(ROOT, path)), specifier)) : specifier
    const found = (pattern: RegExp, isLazy: boolean) =>
      [...code.matchAll(pattern)].map(([, specifier]) => ({ to: at(specifier!), isLazy }))
    return { path, text, code, imports: [...found(STATIC, false), ...found(LAZY, true)] }
  })

const program = sources.filter(({ path }) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
const screenOf = (path: string) => /^screens\/([^/]+)\//.exec(path)?.[1] ?? null

function offences(of: Source[], judge: (one: Import, from: Source) => boolean): string[] {
  return of.flatMap((source) =>
    source.imports.filter((one) => judge(one, source)).map(({ to }) => `${source.path} imports ${to}`),
  )
}

it('there is something to check', () => {
  expect(program.length).toBeGreaterThan(20)
  expect(program.find(({ path }) => path === 'client.ts')?.imports).toContainEqual({
    to: '@holdfast/client',
    isLazy: false,
  })
})

it('it imports its own files, the client, and its packages', () => {
  const isPackage = (to: string) => PACKAGES.some((name) => to === name || to.startsWith(`${name}/`))
  expect(offences(program, ({ to }) => !isPackage(to) && !files.includes(to.replace(/\?.*$/, '')))).toEqual([])
})

it('a screen is imported by the router alone, and only when it is shown', () => {
  const strays = offences(program, ({ to, isLazy }, { path }) => {
    const screen = screenOf(to)
    return screen !== null && screen !== screenOf(path) && !(isLazy && path === 'router.tsx')
  })
  expect(strays).toEqual([])
  expect(
    program.find(({ path }) => path === 'router.tsx')?.imports.filter(({ to }) => screenOf(to)).length,
  ).toBeGreaterThan(5)
})

it.each([
  [
    'markup made of text',
    /\b(?:dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|srcDoc|document\.write)\b/,
  ],
  [
    'a way to the API beside the client',
    /(?<![\w.])fetch\(|(?:window|globalThis|self)\.fetch\b|\b(?:EventSource|XMLHttpRequest|WebSocket|sendBeacon)\b/,
  ],
  ['text that is run as code', /(?<![\w.])eval\(|\bnew Function\b|\bset(?:Timeout|Interval)\(\s*['"`]/],
])('there is no %s in it', (_what, pattern) => {
  expect(program.filter(({ code }) => pattern.test(code)).map(({ path }) => path)).toEqual([])
})

it('styles load nothing from elsewhere', () => {
  const styles = sources.filter(({ path }) => path.endsWith('.css'))
  expect(styles.filter(({ code }) => /url\(\s*['"]?(?:[a-z]+:)?\/\//i.test(code)).map(({ path }) => path)).toEqual([])
})

it(`no file is longer than ${LINES_MAX} lines`, () => {
  expect(sources.filter(({ text }) => text.split('\n').length - 1 > LINES_MAX).map(({ path }) => path)).toEqual([])
})

it('names say what a file is about', () => {
  const vague = /(^|[/-])(utils?|helpers?|common|lib|types|manager|service)(-|\.|\/|$)/
  expect(sources.filter(({ path }) => vague.test(path)).map(({ path }) => path)).toEqual([])
})
