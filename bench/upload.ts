/**
 * `npm run bench -- upload`: a file through the API of the service on the loopback, beside `cp` and `sha256sum` of the same bytes, in turns.
 *
 * The API runs in a process of its own with default settings; an upload is answered when its bytes are hashed and on disk to stay, and its
 * record is committed. `cp` and `sha256sum` run one after the other and wait for no disk. With `--big` 5 GB pass through, and the memory of the
 * API process is looked at meanwhile.
 */

import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import type { Place } from './contender.ts'
import { contender } from './holdfast.ts'
import { ended, startApi } from './live-runs.ts'
import { residentBytes, watchMemory } from './resident-memory.ts'
import { startServer } from './server.ts'
import { median, ratios, spread } from './statistics.ts'
import { sendFile, sendMade, sendMany } from './upload-load.ts'

const MARK_RATIO = 0.5
const MARK_MEMORY_MB = 60
const MB = 1_000_000
const SMALL_BYTES = 8_192
const CONNECTIONS = 16

const HELP = `npm run bench -- upload [options]

  --rounds <n>  turns of each (5)
  --mb <n>      size of the file in MB (1000)
  --small <n>   how many files of 8 KiB (2000)
  --big         only send 5 GB, and see how much memory the API takes
  --big-mb <n>  its size (5000)
  --quick       one small turn: shows that it works
  --json        the figures as JSON

The file is written to the folder for temporary files, three times at a time.`

type Options = { rounds: number; bytes: number; small: number; bigBytes: number | null }

/** Seconds, one value per round; memory in bytes. */
type Figures = {
  bytes: number
  small: number
  upload: number[]
  copy: number[]
  smallUpload: number[]
  smallCopy: number[]
  memory: { bytes: number; idle: number; warm: number; most: number; seconds: number } | null
}

const run = promisify(execFile)

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      mb: { type: 'string' },
      small: { type: 'string' },
      big: { type: 'boolean', default: false },
      'big-mb': { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const { quick } = values
  const figures = await measure({
    rounds: values.big ? 0 : Number(values.rounds ?? (quick ? 1 : 5)),
    bytes: Number(values.mb ?? (quick ? 50 : 1_000)) * MB,
    small: Number(values.small ?? (quick ? 100 : 2_000)),
    bigBytes: values.big ? Number(values['big-mb'] ?? (quick ? 200 : 5_000)) * MB : null,
  })
  console.log(values.json ? JSON.stringify(figures, null, 2) : report(figures))
}

async function measure({ rounds, bytes, small, bigBytes }: Options): Promise<Figures> {
  const server = await startServer()
  const children: ChildProcess[] = []
  const figures: Figures = { bytes, small, upload: [], copy: [], smallUpload: [], smallCopy: [], memory: null }
  try {
    await server.install(contender)
    const place = await server.fresh(contender)
    const url = await startApi(place, children)
    if (bigBytes !== null) figures.memory = await passThrough(url, children[0]!.pid!, bigBytes)
    else await sendMade(url, MB, 0)
    const source = join(place.folder, 'source.bin')
    if (rounds > 0) await makeFile(source, bytes)
    for (let round = 0; round < rounds; round += 1) {
      // The same file twice would be stored once.
      await mark(source, round)
      const turns = [
        async () => figures.upload.push(await seconds(() => sendFile(url, source, bytes))),
        async () => figures.copy.push(await seconds(() => copyAndHash(place, [source]))),
        async () => figures.smallUpload.push(await seconds(smallOnes(url, round, small))),
        async () => figures.smallCopy.push(await smallCopies(place, round, small)),
      ]
      // Each round begins with another one, and the two that are compared stay neighbours.
      if (round % 2 === 1) turns.splice(0, 4, turns[1]!, turns[0]!, turns[3]!, turns[2]!)
      for (const turn of turns) {
        await server.rest(place)
        await turn()
      }
      const last = [figures.upload, figures.copy].map((values) => `${values.at(-1)!.toFixed(2)} s`)
      console.error(`round ${round + 1} of ${rounds}: upload ${last[0]}, cp + sha256sum ${last[1]}`)
    }
    return figures
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(children.map((child) => ended(child)))
    await server.stop()
  }
}

async function passThrough(url: string, pid: number, bytes: number): Promise<Figures['memory']> {
  const rest = () => new Promise((resolve) => setTimeout(resolve, 2_000))
  await rest()
  const idle = await residentBytes(pid)
  // The first uploads load code and fill pools, which stay: told apart from what a large one takes.
  for (let warm = 1; warm <= 5; warm += 1) await sendMade(url, 20 * MB, warm)
  await rest()
  const warm = await residentBytes(pid)
  const memory = watchMemory(pid)
  const took = await seconds(() => sendMade(url, bytes, 99))
  return { bytes, idle, warm, most: await memory.stop(), seconds: took }
}

/** Random, so that neither a file system nor a disk can make it smaller. */
async function makeFile(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w')
  for (let left = bytes; left > 0; left -= 8 * MB) await file.write(randomBytes(Math.min(left, 8 * MB)))
  await file.sync()
  await file.close()
}

async function mark(path: string, round: number): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(Buffer.from(`round ${String(round).padStart(9, '0')}`), 0, 15, 0)
  await file.sync()
  await file.close()
}

async function copyAndHash({ folder }: Place, sources: string[]): Promise<void> {
  const target = join(folder, 'copies')
  await mkdir(target, { recursive: true })
  await run('cp', [...sources, target])
  const copies = sources.map((source) => join(target, source.slice(source.lastIndexOf('/') + 1)))
  await run('sha256sum', copies, { maxBuffer: 64 * MB })
  await rm(target, { recursive: true })
}

function smallOnes(url: string, round: number, count: number): () => Promise<void> {
  const contents = Array.from({ length: count }, (_, index) => ({
    name: `small-${round}-${index}.bin`,
    data: Buffer.concat([Buffer.from(`${round} ${index} `), randomBytes(SMALL_BYTES)]).subarray(0, SMALL_BYTES),
  }))
  return () => sendMany(url, contents, CONNECTIONS)
}

async function smallCopies(place: Place, round: number, count: number): Promise<number> {
  const folder = join(place.folder, `small-${round}`)
  await mkdir(folder)
  const paths = Array.from({ length: count }, (_, index) => join(folder, `${index}.bin`))
  for (const path of paths) await writeFile(path, randomBytes(SMALL_BYTES))
  const took = await seconds(() => copyAndHash(place, paths))
  await rm(folder, { recursive: true })
  return took
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const fromMs = performance.now()
  await work()
  return (performance.now() - fromMs) / 1_000
}

export function report({ bytes, small, upload, copy, smallUpload, smallCopy, memory }: Figures): string {
  const lines: string[] = []
  if (upload.length > 0) {
    const line = (name: string, values: number[], per: string, amount: number) =>
      `${name.padEnd(30)}${median(values).toFixed(2).padStart(8)} s ${Math.round(amount / median(values))
        .toLocaleString('en-US')
        .padStart(9)} ${per}`
    // Of speeds: what the copy takes divided by what the upload takes.
    const ratio = spread(ratios(copy, upload))
    lines.push(
      `${bytes / MB} MB and ${small} files of ${SMALL_BYTES / 1024} KiB, ${upload.length} rounds in turns`,
      line('upload', upload, 'MB/s', bytes / MB),
      line('cp + sha256sum', copy, 'MB/s', bytes / MB),
      line(`small files, ${CONNECTIONS} connections`, smallUpload, 'files/s', small),
      line('small files, cp + sha256sum', smallCopy, 'files/s', small),
      `upload ÷ cp + sha256sum ${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}), ` +
        `mark ≥ ${MARK_RATIO}: ${ratio.median >= MARK_RATIO ? 'reached' : 'missed'}`,
    )
  }
  if (memory) {
    const above = (memory.most - memory.idle) / MB
    lines.push(
      `${memory.bytes / MB} MB in ${memory.seconds.toFixed(1)} s; memory of the API: ${Math.round(memory.idle / MB)} MB before the ` +
        `first upload, ${Math.round(memory.warm / MB)} MB after five of 20 MB, at most ${Math.round(memory.most / MB)} MB`,
      `${above.toFixed(1)} MB above an API that has done nothing yet, mark < ${MARK_MEMORY_MB}: ${above < MARK_MEMORY_MB ? 'reached' : 'missed'}`,
    )
  }
  return lines.join('\n')
}
