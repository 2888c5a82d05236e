/**
 * `npm run first-load -w dashboard`: what a browser fetches of the built app before the list of runs can be shown, compressed, and fails
 * when the scripts are larger than they may be. Counted are the scripts and styles of the page, those of the list, and all that they import.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const SCRIPT_BYTES_MAX = 200_000
const DIST = process.env.HOLDFAST_DASHBOARD_DIR ?? join(import.meta.dirname, 'dist')
const SCREEN = /^runs-screen-.*\.(?:js|css)$/
const IMPORT = /(?:\bfrom|\bimport)\s*["']\.\/([^"']+\.js)["']/g

const assets = readdirSync(join(DIST, 'assets'))
const page = readFileSync(join(DIST, 'index.html'), 'utf8')
const first = [...page.matchAll(/(?:src|href)="\.\/assets\/([^"]+\.(?:js|css))"/g)].map(([, name]) => name!)
const screen = assets.filter((name) => SCREEN.test(name))
if (screen.length === 0) throw new Error(`there is no script of the list of runs in ${DIST}`)

const fetched = new Set<string>()
for (const waiting = [...first, ...screen]; waiting.length > 0; ) {
  const name = waiting.pop()!
  if (fetched.has(name)) continue
  fetched.add(name)
  if (name.endsWith('.js')) {
    const code = readFileSync(join(DIST, 'assets', name), 'utf8')
    waiting.push(...[...code.matchAll(IMPORT)].map(([, imported]) => imported!))
  }
}

const sizes = [...fetched].sort().map((name) => ({
  name,
  bytes: gzipSync(readFileSync(join(DIST, 'assets', name)), { level: 9 }).length,
}))
const sum = (ending: string) =>
  sizes.filter(({ name }) => name.endsWith(ending)).reduce((bytes, one) => bytes + one.bytes, 0)
const kB = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`

for (const { name, bytes } of sizes) process.stdout.write(`${kB(bytes).padStart(10)}  ${name}\n`)
process.stdout.write(`first load of the list, gzip: ${kB(sum('.js'))} of scripts, ${kB(sum('.css'))} of styles\n`)
if (sum('.js') > SCRIPT_BYTES_MAX) {
  process.stderr.write(`the scripts may have ${kB(SCRIPT_BYTES_MAX)}: import less, or later\n`)
  process.exit(1)
}
