/**
 * What was dropped, chosen or pasted, as one batch: without what no person meant (hidden files of the system), each file once, in the order
 * of their paths, with a title that says what it is.
 */

export type Dropped<Item = File> = { file: Item; path: string }

export type Drop<Item = File> = {
  files: Dropped<Item>[]
  bytes: number
  /** Hidden files that were left out. */
  passedOver: number
  title: string
}

const NATURAL = new Intl.Collator('en', { numeric: true })
const NAMES_OF_SYSTEMS = new Set(['thumbs.db', 'desktop.ini', 'icon\r'])
/** As the service has it. */
const TITLE_LENGTH_MAX = 200

export function groupDrop<Item extends { size: number }>(dropped: readonly Dropped<Item>[], at: Date): Drop<Item> {
  const seen = new Set<string>()
  const files: Dropped<Item>[] = []
  let passedOver = 0
  for (const one of dropped) {
    const path = one.path.replace(/^\/+/, '')
    if (isHidden(path)) passedOver += 1
    else if (!seen.has(path) || path === nameIn(path)) files.push({ ...one, path })
    seen.add(path)
  }
  files.sort((a, b) => NATURAL.compare(a.path, b.path))
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0)
  return { files, bytes, passedOver, title: titleOf(files, at) }
}

/** `invoice.pdf`, `invoices: 42 files, 16 Nov` for a folder, `42 files, 16 Nov` for what was picked by hand. */
export function titleOf(files: readonly { path: string }[], at: Date): string {
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }).format(at)
  if (files.length === 1) return shortened(`${nameIn(files[0]!.path)}, ${day}`)
  const folder = folderOf(files)
  const count = `${new Intl.NumberFormat('en').format(files.length)} files, ${day}`
  return shortened(folder === null ? count : `${folder}: ${count}`)
}

export function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The one folder that all are in. */
function folderOf(files: readonly { path: string }[]): string | null {
  const tops = new Set(files.map(({ path }) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')))
  const [top] = tops
  return tops.size === 1 && top ? top : null
}

function isHidden(path: string): boolean {
  const parts = path.split('/')
  return parts.some((part) => part.startsWith('.')) || NAMES_OF_SYSTEMS.has(parts.at(-1)!.toLowerCase())
}

function shortened(title: string): string {
  return title.length <= TITLE_LENGTH_MAX ? title : `…${title.slice(1 - TITLE_LENGTH_MAX)}`.toWellFormed()
}
