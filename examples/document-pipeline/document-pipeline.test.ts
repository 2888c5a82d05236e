/** The model as the service sees it: its definition, what it costs when idle, and its steps in a child process. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { CommittedStep, DoneStep, Outcome } from '../../src/executor/executor.ts'
import { ProcessExecutor } from '../../src/executor/process.ts'
import { definitionOf } from '../../src/model/model.ts'
import { fileParametersOf } from '../../src/run/file-parameters.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import documentPipeline from './document-pipeline.ts'
import { zipBomb } from './samples/broken-sample.ts'
import { writePdf } from './samples/write-pdf.ts'

const STEPS = ['identify', 'extract', 'measure', 'entities', 'summarise']
const MODULE = join(import.meta.dirname, 'document-pipeline.ts')
const folder = await tempFolder()
const executor = new ProcessExecutor({ modules: [MODULE], from: folder.path, childrenMax: 1, memoryLimitMb: 1024 })
afterAll(async () => {
  await executor.stop()
  await folder.remove()
})

async function attempt(
  bytes: Buffer,
  done: DoneStep[] = [],
): Promise<{ outcome: Outcome; committed: CommittedStep[] }> {
  const path = join(folder.path, 'document')
  writeFileSync(path, bytes)
  const id = 'a'.repeat(64)
  const file = { parameter: '/document', fileId: id, name: 'x', bytes: bytes.length, type: 'text/plain', path }
  const committed: CommittedStep[] = []
  const steps = {
    done: async () => done,
    commit: async (step: CommittedStep) => void committed.push(step),
    states: () => {},
  }
  const input = { runId: 'r', attempt: 1, model: documentPipeline.name, modelVersion: '1', seed: 1, timeoutMs: 30_000 }
  const handle = await executor.submit(
    { ...input, parameters: { document: id }, files: [file] },
    { progress: () => {}, log: () => {}, steps },
  )
  return { outcome: await executor.watch(handle), committed }
}

test('the definition names the file, the steps and what results are found by', () => {
  const definition = definitionOf(documentPipeline)
  expect(fileParametersOf(definition.parametersSchema)).toEqual([{ name: 'document', isList: false }])
  expect(definition).toMatchObject({ executor: 'process', steps: STEPS, places: 'places', expectedSeconds: 20 })
  expect(Object.keys(definition.facets ?? {})).toEqual(['kind', 'language', 'currency', 'email', 'date', 'term'])
})

test('nothing that reads documents is loaded with the model', () => {
  const imports = [...readFileSync(MODULE, 'utf8').matchAll(/^import .* from '([^']+)'/gm)].map(([, from]) => from)
  expect(imports).toEqual(['holdfast', 'zod', './limits.ts'])
})

test('five steps in a child process, which a bomb before them does not hurt', async () => {
  const bomb = await attempt(zipBomb('x', false, 300))
  expect(bomb.outcome).toMatchObject({ status: 'failed', error: { class: 'ZipBomb', retryable: false } })
  expect(bomb.committed.map(({ name, tries }) => [name, tries])).toEqual([['identify', 1]])
  const pdf = writePdf([['The inspection of 14 March 2026 cost €1,234.50 and was made at 48.85837, 2.29448.']])
  const { outcome, committed } = await attempt(pdf)
  expect(committed.map(({ name }) => name)).toEqual(STEPS)
  expect(executor.childCount).toBe(1)
  expect(outcome.status === 'succeeded' && JSON.parse(outcome.resultText)).toMatchObject({
    kind: 'pdf',
    pages: 1,
    language: 'en',
    entities: { dates: [{ date: '2026-03-14' }], amounts: [{ currency: 'EUR', value: 1234.5 }], emails: [] },
    places: [{ latitude: 48.85837, longitude: 2.29448 }],
  })
})

test('an attempt goes on after the last durable step, and gives the same result', async () => {
  const bytes = Buffer.from('The station was inspected on 2026-03-14. It was found to be in a good state.')
  const first = await attempt(bytes)
  for (const [index] of STEPS.entries()) {
    const again = await attempt(bytes, first.committed.slice(0, index))
    expect(again.committed.map(({ name }) => name)).toEqual(STEPS.slice(index))
    expect(again.outcome).toEqual(first.outcome)
  }
})
