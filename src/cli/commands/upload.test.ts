import { rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Holdfast } from '../../../client/src/index.ts'
import { type Act, answers, loses, refuses, scriptedServer } from '../../../test/support/scripted-http.ts'
import { stepClock } from '../../../test/support/step-clock.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { uploadLines } from '../upload-lines.ts'
import { createUploadMemory } from '../upload-memory.ts'
import { uploadAll } from './upload.ts'

const accepted = (more: object = {}): Act =>
  answers(201, { batch_id: null, data: [{ status: 201, duplicate: false, run_id: null, ...more, problem: null }] })

async function folderOf(...names: string[]): Promise<string> {
  const folder = await tempFolder()
  onTestFinished(() => folder.remove())
  for (const name of names) await writeFile(join(folder.path, name), name)
  return folder.path
}

async function uploaded(paths: string[], flags: object, acts: Act[], { isTerminal = false, otherwise = loses() } = {}) {
  const server = await scriptedServer(answers(201, {}), ...acts)
  server.otherwise(otherwise)
  const written = { out: '', err: '' }
  const output = {
    isTerminal,
    columns: 60,
    out(text: string) {
      written.out += text
    },
    err(text: string) {
      written.err += text
    },
  }
  const client = new Holdfast({ url: server.url, clock: stepClock() })
  const format = 'json' in flags ? 'json' : 'lines'
  const code = await uploadAll(client, paths, { concurrency: '1', ...flags }, uploadLines(output, format))
  return { code, ...written, server }
}

test('each file is a line, and the whole a sentence', async () => {
  const folder = await folderOf('a.txt')
  const { code, err, out } = await uploaded([join(folder, 'a.txt')], {}, [accepted({ run_id: 'r-1' })])
  expect(code).toBe(0)
  expect(err).toMatch(/^UPLOADED {3}\S+a\.txt run r-1\n1 file \(5 bytes\) uploaded\. Batch [0-9a-f-]{36}\.\n$/)
  expect(out).toBe('')
})

test('a duplicate is told with its first run', async () => {
  const folder = await folderOf('a.txt')
  const { code, err } = await uploaded([folder], { model: 'm' }, [accepted({ duplicate: true, run_id: 'first' })])
  expect(code).toBe(0)
  expect(err).toMatch(/^DUPLICATE {2}\S+a\.txt: it was handed in before, run first\n/)
})

test('a file that is refused ends with 2, after the others', async () => {
  const folder = await folderOf('a.txt', 'b.txt')
  const { code, err } = await uploaded([folder], { model: 'm' }, [refuses(422, 'invalid-parameters'), accepted()])
  expect(code).toBe(2)
  expect(err).toMatch(/^FAILED {5}\S+\.txt: It is invalid-parameters\. \(invalid-parameters\)\.\n/)
  expect(err).toMatch(/1 file \(5 bytes\) uploaded, 1 not: upload them again with --batch/)
})

test('a service that goes away ends it with 2 and says how to go on', async () => {
  const folder = await folderOf('a.txt', 'b.txt', 'c.txt')
  const { code, err } = await uploaded([folder], {}, [accepted()])
  expect(code).toBe(2)
  expect(err).toMatch(
    /failed 4 times: .*try again\.\nThe service cannot be reached .* the same command and --batch \S+\.\n$/,
  )
})

test('a file that is gone before its turn is told, and the others are uploaded', async () => {
  const folder = await folderOf('a.txt', 'b.txt', 'c.txt')
  const paths = ['a.txt', 'b.txt', 'c.txt'].map((name) => join(folder, name))
  const vanishes: Act = (seen, response) => {
    rmSync(paths[1]!, { force: true })
    accepted()(seen, response)
  }
  const { code, out } = await uploaded(paths, { json: true }, [vanishes, accepted()])
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ path, ok }) => [path, ok]).slice(0, 3)).toEqual([
    [paths[0], true],
    [paths[1], false],
    [paths[2], true],
  ])
  expect(lines[1].error).toContain('ENOENT')
  expect(lines[3]).toMatchObject({ uploaded: 2, failed: 1 })
  expect(code).toBe(2)
})

test('at a terminal one line keeps changing, and never gets longer than it is wide', async () => {
  const folder = await folderOf(`${'long'.repeat(30)}.txt`)
  const { err } = await uploaded([folder], {}, [accepted()], { isTerminal: true })
  const lines = err.split('\r\u001b[2K').filter((line) => line !== '')
  expect(lines[0]).toHaveLength(59)
  expect(lines.at(-1)).toMatch(/^1 file .* uploaded\. Batch .*\.\n$/)
})

test.each([
  [['/no/such/folder'], {}, '/no/such/folder cannot be read'],
  [['.'], { model: 'm', parameters: '[1]' }, '--parameters must be a JSON object'],
  [['.'], { model: 'm', parameters: '{' }, '--parameters is not JSON'],
  [['.'], { parameters: '{}' }, 'say which with --model'],
  [['.'], { concurrency: '0' }, '--concurrency must be'],
])('%j with %j is refused before anything is sent', async (paths, flags, sentence) => {
  await expect(uploaded(paths, flags, [])).rejects.toThrow(sentence)
})

test('a folder without files is told', async () => {
  const folder = await folderOf()
  await mkdir(join(folder, 'empty'))
  await expect(uploaded([folder], {}, [])).rejects.toThrow(`there is no file in ${folder}`)
})

test('what did not come to its end is remembered for the same service only', async () => {
  const folder = join(await folderOf(), 'memory')
  const id = '0190a000-0000-7000-8000-000000000001'
  const memory = createUploadMemory('http://one', folder)
  await memory.set('a file', id)
  expect(await createUploadMemory('http://one', folder).get('a file')).toBe(id)
  expect(await createUploadMemory('http://two', folder).get('a file')).toBeNull()
  await memory.delete('a file')
  expect(await memory.get('a file')).toBeNull()
})
