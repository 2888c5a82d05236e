import { chmod, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BlobStoreFull } from './blob.ts'
import { createDiskBlobStore } from './disk.ts'

const fault = vi.hoisted(() => ({ onSync: null as (() => void) | null }))

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  return {
    ...real,
    async open(...args: Parameters<typeof real.open>) {
      const handle = await real.open(...args)
      const sync = handle.sync.bind(handle)
      handle.sync = async () => {
        fault.onSync?.()
        await sync()
      }
      return handle
    },
  }
})

describe('blobs on disk', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-disk-'))
  })
  afterEach(async () => {
    fault.onSync = null
    await rm(folder, { recursive: true, force: true })
  })

  it('writes a plain file under the name it was given', async () => {
    const store = await createDiskBlobStore({ folder })
    await store.put('run.a1.json', Buffer.from('{}'))
    expect(await readFile(join(folder, 'run.a1.json'), 'utf8')).toBe('{}')
  })

  it('leaves no temporary file behind', async () => {
    const store = await createDiskBlobStore({ folder })
    await Promise.all([store.put('a', Buffer.from('1')), store.put('b', Buffer.from('2')), store.identity()])
    expect((await readdir(folder)).toSorted()).toEqual(['.holdfast-folder', 'a', 'b'])
  })

  it.each(['ENOSPC', 'EDQUOT'])('says that the store is full on %s and leaves nothing behind', async (code) => {
    const store = await createDiskBlobStore({ folder })
    fault.onSync = () => {
      throw Object.assign(new Error('no space left on device'), { code })
    }
    const failure = await store.put('a', Buffer.from('1')).catch((error) => error)
    expect(failure).toBeInstanceOf(BlobStoreFull)
    expect(failure.code).toBe('artifact-store-full')
    expect(await readdir(folder)).toEqual([])
  })

  it('keeps the old bytes when a replacement fails before it is whole', async () => {
    const store = await createDiskBlobStore({ folder })
    const { ref } = await store.put('a', Buffer.from('old'))
    fault.onSync = () => {
      throw new Error('power cut')
    }
    await expect(store.put('a', Buffer.from('new'))).rejects.toThrow('power cut')
    expect(Buffer.from(await store.get(ref)).toString()).toBe('old')
  })

  it('has one identity for two processes that make it at once', async () => {
    const stores = await Promise.all(Array.from({ length: 10 }, () => createDiskBlobStore({ folder })))
    const ids = await Promise.all(stores.map((store) => store.identity()))
    expect(new Set(ids).size).toBe(1)
  })

  it('keeps its identity when the folder moves', async () => {
    const store = await createDiskBlobStore({ folder: join(folder, 'first') })
    const id = await store.identity()
    await rename(join(folder, 'first'), join(folder, 'second'))
    const moved = await createDiskBlobStore({ folder: join(folder, 'second') })
    expect(await moved.identity()).toBe(id)
  })

  it('refuses an identity file it does not understand instead of inventing a new one', async () => {
    await writeFile(join(folder, '.holdfast-folder'), 'half')
    const store = await createDiskBlobStore({ folder })
    await expect(store.identity()).rejects.toThrow(/does not hold a folder id/)
  })

  it('removes temporary files older than a day when it is opened, and only those', async () => {
    const [old, fresh, blob] = ['.writing-old', '.writing-fresh', 'blob'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    for (const path of [old, fresh, blob]) await writeFile(path, 'x')
    const longAgo = new Date(Date.now() - 25 * 60 * 60 * 1_000)
    await utimes(old, longAgo, longAgo)
    await utimes(blob, longAgo, longAgo)
    await createDiskBlobStore({ folder })
    expect((await readdir(folder)).toSorted()).toEqual(['.writing-fresh', 'blob'])
  })

  it.skipIf(process.getuid?.() === 0)('reports a folder it may not write to', async () => {
    const store = await createDiskBlobStore({ folder })
    await chmod(folder, 0o555)
    await expect(store.put('a', Buffer.from('1'))).rejects.toMatchObject({ code: 'EACCES' })
    await chmod(folder, 0o755)
  })
})
