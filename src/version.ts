/** The version of this program, as its package says. */

import { readFileSync } from 'node:fs'

const PACKAGE = new URL('../package.json', import.meta.url)

export const version: string = JSON.parse(readFileSync(PACKAGE, 'utf8')).version
