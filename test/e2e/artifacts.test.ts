/** Files that a declared command leaves: kept, listed and downloaded through the service, byte for byte; what it only linked to is not. */

import { createHash, randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Holdfast } from '../../client/src/index.ts'
import { allOf } from '../support/all-of.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place } from '../support/processes.ts'

const WEIRD = 'plots/100% "ünï" 数;..%2F a?b#c\\d\n.csv'
const BYTES = randomBytes(3_000_000)

const MODELS = `models:
  - name: plots
    parameters: {type: object}
    command: [${JSON.stringify(process.execPath)}, plots.mjs]
    inherit_environment: [WEIRD_NAME]
    retry: {max_attempts: 1}
`
const PROGRAM = `
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
const folder = process.env.HOLDFAST_OUTPUT_DIR
mkdirSync(folder + '/plots')
copyFileSync('bytes.bin', folder + '/bytes.bin')
writeFileSync(folder + '/' + process.env.WEIRD_NAME, 'a,b\\n')
symlinkSync('/etc/passwd', folder + '/stolen')
writeFileSync(process.env.HOLDFAST_RESULT, '1')
`

let place: Place
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url, HOLDFAST_MODELS: 'holdfast.yaml', WEIRD_NAME: WEIRD })
  const write = (name: string, text: string | Buffer) => writeFile(join(place.folder, name), text)
  await Promise.all([write('holdfast.yaml', MODELS), write('plots.mjs', PROGRAM), write('bytes.bin', BYTES)])
})
afterAll(async () => {
  await place.close()
  await database.drop()
})

it('are there once the run has succeeded', async () => {
  const { url } = await place.startAll()
  const client = new Holdfast({ url })
  const { runId } = await client.submit('plots', {})
  expect((await client.wait(runId)).status).toBe('SUCCEEDED')

  const files = await allOf(client.artifacts(runId))
  const sha256 = createHash('sha256').update(BYTES).digest('hex')
  expect(files).toMatchObject([
    { name: 'bytes.bin', attempt: 1, bytes: BYTES.length, sha256 },
    { name: WEIRD, attempt: 1, bytes: 4 },
  ])
  const download = await client.download(runId, files[0]!)
  expect(download.headers.get('content-length')).toBe(String(BYTES.length))
  expect(Buffer.from(await download.arrayBuffer()).equals(BYTES)).toBe(true)
  const byHref = await fetch(`${url}${files[1]!.href}`)
  expect(await byHref.text()).toBe('a,b\n')
  expect(byHref.headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''[\w%.-]+$/)
  const stolen = client.download(runId, { attempt: 1, name: 'stolen' })
  await expect(stolen).rejects.toMatchObject({ code: 'artifact-not-found' })
  const stored = await readdir(join(place.folder, 'artifacts'))
  expect(stored.filter((name) => name.startsWith(runId)).every((name) => /^[\w.-]+$/.test(name))).toBe(true)
  expect(stored.filter((name) => name.startsWith(runId))).toHaveLength(2)
})
