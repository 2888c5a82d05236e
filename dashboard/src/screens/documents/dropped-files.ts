/** The files in what was dropped, pasted or chosen, folders with everything in them. */

import type { Dropped } from './group-drop.ts'

/** To be called before anything is awaited: afterwards the browser has forgotten what was dropped. */
export async function filesDropped(transfer: DataTransfer): Promise<Dropped[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file')
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? null)
  const alone = [...transfer.files]
  if (!entries.some((entry) => entry?.isDirectory)) return alone.map((file) => ({ file, path: file.name }))
  const found: Dropped[] = []
  for (const entry of entries) if (entry) await walk(entry, found)
  return found
}

export function filesChosen(list: FileList | null): Dropped[] {
  return [...(list ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }))
}

async function walk(entry: FileSystemEntry, found: Dropped[]): Promise<void> {
  if (entry.isDirectory) {
    for (const inner of await childrenOf(entry as FileSystemDirectoryEntry)) await walk(inner, found)
    return
  }
  const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
  found.push({ file, path: entry.fullPath })
}

/** A reader gives at most a hundred at a time, and none at the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
  }
}
