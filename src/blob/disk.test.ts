import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { chmod, mkdtemp, open, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BlobStoreFull } from './blob.ts'
import { createDiskBlobStore } from './disk.ts'

const DIES_WHILE_PUTTING = fileURLToPath(new URL('../../test/fixtures/dies-while-putting.ts', import.meta.url))

/** A disk of a megabyte, where one can be mounted; it is gone with the tests. */
const TINY_DISK = mountTinyDisk()

function mountTinyDisk(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null
  const path = mkdtempSync(join(tmpdir(), 'holdfast-tiny-'))
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path]).status === 0
  afterAll(() => {
    if (isMounted) spawnSync('umount', ['-l', path])
    rmdirSync(path)
  })
  return isMounted ? path : null
}

type Files = { onSync?: () => void; onWrite?: () => void }

/** Opens files that fail where a test wants them to. */
function failing(files: Files): typeof open {
  return async (...args) => {
    const file = await open(...args)
    const sync = file.sync.bind(file)
    const writeFile = file.writeFile.bind(file)
    const writev = file.writev.bind(file)
    file.sync = async () => {
      files.onSync?.()
      await sync()
    }
    file.writeFile = async (...written) => {
      files.onWrite?.()
      await writeFile(...written)
    }
    file.writev = async (...written) => {
      files.onWrite?.()
      return writev(...written)
    }
    return file
  }
}

async function* pieces(texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

function fails(code: string) {
  return () => {
    throw Object.assign(new Error('no space left on device'), { code })
  }
}

describe('blobs on disk', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-disk-'))
  })
  afterEach(async () => {
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

  it.each([
    ['ENOSPC', 'onSync', Buffer.from('1')],
    ['EDQUOT', 'onSync', Buffer.from('1')],
    ['ENOSPC', 'onWrite', Buffer.from('1')],
    ['ENOSPC', 'onWrite', pieces(['1', '2'])],
  ])('says that the store is full on %s (%s) and leaves nothing behind', async (code, where, bytes) => {
    const store = await createDiskBlobStore({ folder, openFile: failing({ [where]: fails(code) }) })
    const failure = await store.put('a', bytes).catch((error) => error)
    expect(failure).toBeInstanceOf(BlobStoreFull)
    expect(failure.code).toBe('artifact-store-full')
    expect(await readdir(folder)).toEqual([])
  })

  it.skipIf(!TINY_DISK)('says that a disk that is really full is, and takes the next that fits', async () => {
    const tiny = join(TINY_DISK!, crypto.randomUUID())
    const store = await createDiskBlobStore({ folder: tiny })
    const { ref } = await store.put('fits', Buffer.alloc(200_000))
    async function* tooMuch() {
      for (let i = 0; i < 40; i += 1) yield Buffer.alloc(65_536)
    }
    await expect(store.put('large', Buffer.alloc(2_000_000))).rejects.toBeInstanceOf(BlobStoreFull)
    await expect(store.put('streamed', tooMuch())).rejects.toBeInstanceOf(BlobStoreFull)
    expect((await readdir(tiny)).toSorted()).toEqual(['fits'])
    await store.delete(ref)
    await store.put('again', Buffer.alloc(500_000))
  })

  it('writes the rest when the system takes only a part of the bytes', async () => {
    const openFile: typeof open = async (...args) => {
      const file = await open(...args)
      const { writev } = file
      file.writev = (([first]: Uint8Array[]) => writev.call(file, [first!.subarray(0, 3)])) as typeof writev
      return file
    }
    const store = await createDiskBlobStore({ folder, openFile })
    await store.put('a', pieces(['one, two', ', ', '', 'three']))
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('one, two, three')
  })

  it('stops a source when the disk is full in the middle of it', async () => {
    let writes = 0
    const onWrite = () => {
      writes += 1
      if (writes === 3) fails('ENOSPC')()
    }
    const store = await createDiskBlobStore({ folder, openFile: failing({ onWrite }) })
    let isStopped = false
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(600_000)
      } finally {
        isStopped = true
      }
    }
    await expect(store.put('a', endless())).rejects.toBeInstanceOf(BlobStoreFull)
    expect([isStopped, await readdir(folder)]).toEqual([true, []])
  })

  it('keeps the old bytes when a replacement fails before it is whole', async () => {
    const files: Files = {}
    const store = await createDiskBlobStore({ folder, openFile: failing(files) })
    const { ref } = await store.put('a', Buffer.from('old'))
    files.onSync = () => {
      throw new Error('power cut')
    }
    await expect(store.put('a', Buffer.from('new'))).rejects.toThrow('power cut')
    expect(Buffer.from(await store.get(ref)).toString()).toBe('old')
  })

  it('shows nothing of a put whose process was killed, and removes its leftovers a day later', async () => {
    const child = spawn(process.execPath, [DIES_WHILE_PUTTING, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
    const [leftover, ...others] = await readdir(folder)
    expect([leftover?.startsWith('.writing-'), others]).toEqual([true, []])
    const store = await createDiskBlobStore({ folder })
    expect(await store.stat('artifacts/half')).toBeNull()
    for await (const { name } of store.list()) expect.unreachable(name)
    expect(await store.removeUnfinished(60_000)).toBe(0)
    const longAgo = new Date(Date.now() - 61_000)
    await utimes(join(folder, leftover!), longAgo, longAgo)
    expect(await store.removeUnfinished(60_000)).toBe(1)
    expect(await readdir(folder)).toEqual([])
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
