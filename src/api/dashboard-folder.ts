/**
 * The built dashboard in memory: its page, and its files by their path in the folder. What is not in this table does not exist, so that no
 * path of a request ever reaches the disk. The folder is looked at again when somebody asks for the page: a build that was just put in
 * place is served without a restart, and the files of the one before it are kept for pages that are still open.
 */

import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Log } from '../telemetry/log.ts'
import type { Encoding } from './accept-encoding.ts'
import { isDashboardPage } from './dashboard-page.ts'

export type DashboardFile = {
  type: string
  /** The encodings it is worth having in. */
  encodings: readonly Encoding[]
  /** Compressed once, when first asked for. */
  bytes(encoding: Encoding): Promise<Buffer>
  /** Strong, and another one for each encoding. */
  etag(encoding: Encoding): string
}

export type DashboardFolder = {
  /** The page as it was built; null while there is none. */
  page(): Promise<string | null>
  file(path: string): Promise<DashboardFile | null>
}

/** Whoever names a wrong folder must not fill the memory with it. */
const FILES_MAX = 2_000
const BYTES_MAX = 64 * 1_048_576
/** Nobody makes us look more often. */
const LOOK_MS = 500
const PAGE = 'index.html'

type Build = { key: string; page: string; files: Map<string, DashboardFile> }
type Listed = { path: string; size: number; changedAtMs: number }

export function createDashboardFolder(options: { dir: string; log: Log; lookMs?: number }): DashboardFolder {
  const { dir, log, lookMs = LOOK_MS } = options
  let current: Build | null = null
  let previous: Build | null = null
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null
  let complained = ''

  async function look(): Promise<void> {
    try {
      const listed = await listFiles(dir)
      const key = keyOf(listed)
      if (key === current?.key) return
      const build = await readBuild(dir, listed, key)
      // Somebody is still writing it; the one we have is whole.
      if (keyOf(await listFiles(dir)) !== key) return
      previous = current
      current = build
      complained = ''
    } catch (error) {
      // A folder that is gone or being replaced is no news: what was read from it is still served.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || String(error) === complained) return
      complained = String(error)
      log.warn({ err: error, dir }, 'the folder of the dashboard cannot be used')
    }
  }

  async function fresh(): Promise<Build | null> {
    if (current !== null && performance.now() - lookedAtMs < lookMs) return current
    looking ??= look().finally(() => {
      looking = null
      lookedAtMs = performance.now()
    })
    await looking
    return current
  }

  return {
    page: async () => (await fresh())?.page ?? null,
    async file(path) {
      const known = current?.files.get(path) ?? previous?.files.get(path)
      return known ?? (await fresh())?.files.get(path) ?? null
    },
  }
}

/** Only plain files count: a link may lead out of the folder. Throws ENOENT without a page. */
async function listFiles(dir: string): Promise<Listed[]> {
  await stat(join(dir, PAGE))
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
  if (files.length > FILES_MAX) throw new Error(`it has more than ${FILES_MAX} files`)
  const listed = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const { size, mtimeMs } = await stat(join(parentPath, name))
      const path = relative(dir, join(parentPath, name)).split(sep).join('/')
      return { path, size, changedAtMs: mtimeMs }
    }),
  )
  const bytes = listed.reduce((sum, { size }) => sum + size, 0)
  if (bytes > BYTES_MAX) throw new Error(`it has ${bytes} bytes, more than a dashboard`)
  return listed
}

function keyOf(listed: Listed[]): string {
  return JSON.stringify(listed.map(({ path, size, changedAtMs }) => [path, size, changedAtMs]).sort())
}

async function readBuild(dir: string, listed: Listed[], key: string): Promise<Build> {
  const files = new Map<string, DashboardFile>()
  let page = ''
  await Promise.all(
    listed.map(async ({ path }) => {
      const content = await readFile(join(dir, path))
      if (path === PAGE) page = content.toString('utf8')
      else files.set(path, fileOf(path, content))
    }),
  )
  if (!isDashboardPage(page)) throw new Error(`its ${PAGE} is not that of the dashboard`)
  return { key, page, files }
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.ico': 'image/x-icon',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Less than this is not worth a header. */
const COMPRESSED_BYTES_MIN = 512
/** Higher steps of quality cost seconds and save little. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

const COMPRESS: Record<Exclude<Encoding, 'identity'>, (content: Buffer) => Promise<Buffer>> = {
  br: (content) => promisify(brotliCompress)(content, BROTLI),
  gzip: (content) => promisify(gzip)(content, { level: 9 }),
}

function fileOf(path: string, content: Buffer): DashboardFile {
  const type = TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream'
  const isText = type.includes('charset')
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  const made = new Map<Encoding, Promise<Buffer>>([['identity', Promise.resolve(content)]])
  return {
    type,
    encodings: isText && content.length >= COMPRESSED_BYTES_MIN ? ['br', 'gzip', 'identity'] : ['identity'],
    bytes(encoding) {
      const known = made.get(encoding)
      if (known) return known
      const bytes = COMPRESS[encoding as keyof typeof COMPRESS](content)
      made.set(encoding, bytes)
      return bytes
    },
    etag: (encoding) => (encoding === 'identity' ? `"${hash}"` : `"${hash}-${encoding}"`),
  }
}
