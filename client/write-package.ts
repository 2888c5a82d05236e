/**
 * The last step of the build: puts beside the emitted code what a published package needs. In the checkout the package leads to
 * its sources; what is published is the folder `dist` (or the one named), which leads to JavaScript and declarations.
 */

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const out = resolve(process.argv[2] ?? here('dist'))

const { scripts: _, ...kept } = JSON.parse(readFileSync(here('package.json'), 'utf8'))
const exports = {
  '.': { types: './index.d.ts', default: './index.js' },
  './node': { types: './node/file-at.d.ts', default: './node/file-at.js' },
}

writeFileSync(join(out, 'package.json'), `${JSON.stringify({ ...kept, exports }, null, 2)}\n`)
copyFileSync(here('README.md'), join(out, 'README.md'))
copyFileSync(here('../LICENSE'), join(out, 'LICENSE'))
