/**
 * `npm run build -w dashboard`: builds the app aside and puts it in the place of the last one, so that nobody who looks on sees half of it and a
 * build that dies leaves the last one as it was. `holdfast start` runs it with `--gently`: it then gives way to everything else on the
 * machine, says only what went wrong, and ends with whoever started it.
 */

import { rmSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { draftFolder, putInPlace, removeAbandoned } from './put-in-place.ts'

const HERE = import.meta.dirname
const GENTLE_PRIORITY = 10
const isGentle = process.argv.includes('--gently')
const draft = draftFolder(HERE)

function giveUp(code: number): void {
  rmSync(draft, { recursive: true, force: true })
  process.exit(code)
}

async function build(): Promise<void> {
  // What counts is what the sources were when it began: an edit meanwhile makes it old.
  const begunAt = new Date()
  const { build: buildWith } = await import('vite')
  await removeAbandoned(HERE)
  await buildWith({
    root: HERE,
    configFile: join(HERE, 'vite.config.ts'),
    mode: 'production',
    logLevel: isGentle ? 'warn' : 'info',
    build: { outDir: draft, emptyOutDir: true },
  })
  await utimes(join(draft, 'index.html'), begunAt, begunAt)
  await putInPlace(draft, join(HERE, 'dist'))
}

// Elsewhere it may say `test` or `development`, and the build would be another one.
process.env.NODE_ENV = 'production'
process.once('SIGTERM', () => giveUp(143))
process.once('SIGINT', () => giveUp(130))
if (isGentle) {
  setPriority(GENTLE_PRIORITY)
  if (process.channel) process.once('disconnect', () => giveUp(1))
}
try {
  await build()
  process.exit(0)
} catch (error) {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND'
  const what = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${what}\n`)
  if (isMissing) {
    process.stderr.write('A package that builds the dashboard is not installed: run "npm ci", without --omit=dev.\n')
  }
  giveUp(1)
}
