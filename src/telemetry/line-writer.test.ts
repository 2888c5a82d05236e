import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../test/support/until.ts'
import { createLineWriter } from './line-writer.ts'

const count = 20_000
const expected = Array.from({ length: count }, (_, index) => `line ${index}`)

/** A program that logs through a real pipe and then ends in some way. */
function start(ending: string) {
  const module = new URL('./log.ts', import.meta.url).href
  const program = `
    import { createLog, flushLog } from ${JSON.stringify(module)}
    const log = createLog({ level: 'info', format: 'json' })
    const lines = () => { for (let i = 0; i < ${count}; i++) log.info('line ' + i) }
    ${ending}`
  return spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

function messages(output: string): string[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).msg)
}

describe('a line writer in a process that ends', () => {
  it.each([
    ['by itself', 'lines()'],
    ['by process.exit', 'lines(); process.exit(0)'],
    ['by process.exit after a flush', 'lines(); setImmediate(() => flushLog(log).then(() => process.exit(0)))'],
  ])('loses no line and keeps their order (%s)', async (_name, ending) => {
    const child = start(ending)
    expect(messages(await text(child.stdout))).toEqual(expected)
  })

  it('still writes the last line whole when the process exits while a write is under way', async () => {
    const child = start("lines(); setImmediate(() => { log.fatal('last words'); process.exit(1) })")
    expect(JSON.parse((await text(child.stdout)).trimEnd().split('\n').at(-1) ?? '').msg).toBe('last words')
  })

  it('loses no line when the process is told to end by SIGTERM and its handler exits', async () => {
    const child = start(`
      process.once('SIGTERM', () => { lines(); process.exit(0) })
      setInterval(() => {}, 1000)
      process.stdout.write('{"msg":"ready"}\\n')`)
    const output = text(child.stdout)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect(messages(await output)).toEqual(['ready', ...expected])
  })

  it('is not disturbed by a reader that went away', async () => {
    const child = start(`
      log.info('ready')
      process.stdin.resume().once('end', () => { lines(); flushLog(log).then(() => process.exit(7)) })`)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    await once(child.stdout, 'close')
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([7, null])
  })
})

describe('a line writer', () => {
  let folder: string
  let path: string
  let descriptor: number
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-log-'))
    path = join(folder, 'out')
    descriptor = openSync(path, 'w')
  })
  afterEach(async () => {
    closeSync(descriptor)
    await rm(folder, { recursive: true })
  })

  it('has written everything when a flush calls back', async () => {
    const writer = createLineWriter(descriptor)
    writer.write('a\n')
    writer.write('é\n')
    await new Promise<void>((resolve) => writer.flush(resolve))
    expect(await readFile(path, 'utf8')).toBe('a\né\n')
  })

  it('calls back from a flush at once when there is nothing to write', async () => {
    await new Promise<void>((resolve) => createLineWriter(descriptor).flush(resolve))
  })

  describe('soon after a write', () => {
    async function afterAWrite() {
      const writer = createLineWriter(descriptor, { gatherMs: 60_000 })
      writer.write('a\n')
      await written('a\n')
      // The write has ended when its callback has been called, too.
      await turn()
      return writer
    }
    const written = (what: string) => until(async () => (await readFile(path, 'utf8')) === what, { what, everyMs: 1 })

    it('gathers lines, which a flush does not wait for', async () => {
      const writer = await afterAWrite()
      writer.write('b\n')
      writer.write('c\n')
      await turn()
      expect(await readFile(path, 'utf8')).toBe('a\n')
      await new Promise<void>((resolve) => writer.flush(resolve))
      expect(await readFile(path, 'utf8')).toBe('a\nb\nc\n')
    })

    it('writes many lines at once', async () => {
      const writer = await afterAWrite()
      const many = 'many\n'.repeat(20_000)
      writer.write(many)
      await written(`a\n${many}`)
    })
  })

  it('drops whole lines above its limit and says how many', async () => {
    const writer = createLineWriter(descriptor, { charsMax: 10, droppedLine: (dropped) => `dropped ${dropped}\n` })
    for (const line of ['1234\n', '5678\n', 'lost\n', 'lost\n']) writer.write(line)
    await new Promise<void>((resolve) => writer.flush(resolve))
    expect(await readFile(path, 'utf8')).toBe('1234\n5678\ndropped 2\n')
  })
})
