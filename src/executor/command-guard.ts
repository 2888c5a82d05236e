/**
 * The guard of a worker's commands, a process of its own: it measures what their processes use, kills those that take too much, finds what
 * a program left behind, and when the worker is gone (its pipe closes, also on `kill -9`) kills everything the worker had started.
 *
 * It is the one to read /proc, so that a machine with thousands of processes does not slow the worker's loop. Where there
 * is no /proc it knows process groups only and measures nothing.
 */

import { rmSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Ended, Excess, FromGuard, GuardSetup, ToGuard, Watch } from './command-guard-messages.ts'
import { folderBytes } from './folder-size.ts'
import { ProcessOwners, type Root } from './process-owners.ts'
import { type ProcessRow, readFairMemory, readMemory, readProcessTable, readRow } from './process-table.ts'

type Watched = Watch &
  Root & {
    cpuSeconds: number | null
    peakBytes: number | null
    /** At the last full look, of all its processes but the first. */
    othersCpuSeconds: number
    othersBytes: number
    folderLookAtMs: number
    ended: boolean
  }

const TICK_MS = 50
const LOOK_MS = 250
const FOLDER_LOOK_MS = 250
/** On a machine with very many processes, or with a very full folder, looks become rarer. */
const LOOK_PAUSES = 10
const FOLDER_LOOK_PAUSES = 2
const KILL_MS_MAX = 5_000
const KILL_PAUSE_MS = 5
const LINUX = process.platform === 'linux'

const setup = JSON.parse(process.argv[2] as string) as GuardSetup
const owners = new ProcessOwners(setup.markPrefix)
const watched = new Map<number, Watched>()
let ticking: NodeJS.Timeout | undefined
let nextLookAtMs = 0

// Sent to everybody on the terminal or in the container; the guard leaves when the worker does.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
createInterface({ input: process.stdin })
  .on('line', (line) => receive(JSON.parse(line) as ToGuard))
  .on('close', () => void leave())

function receive(message: ToGuard): void {
  if (message.type === 'watch') {
    const measures = { cpuSeconds: null, peakBytes: null, othersCpuSeconds: 0, othersBytes: 0, folderLookAtMs: 0 }
    const program: Watched = { ...message, ...measures, members: new Map(), ended: false }
    watched.set(message.id, program)
    if (LINUX) {
      sampleFirst(program)
      ticking ??= setInterval(tick, TICK_MS)
    }
    return
  }
  const program = watched.get(message.id)
  if (message.type === 'terminate' && program) terminateLeavers(program)
  if (message.type === 'end') void endProgram(message.id, program)
}

function tick(): void {
  const nowMs = performance.now()
  for (const program of watched.values()) {
    sampleFirst(program)
    if (nowMs >= program.folderLookAtMs) void lookAtFolder(program)
  }
  if (nowMs < nextLookAtMs) return
  look()
  nextLookAtMs = nowMs + Math.max(LOOK_MS, (performance.now() - nowMs) * LOOK_PAUSES)
}

/** Cheap, and all there is to see of most programs. */
function sampleFirst(program: Watched): void {
  const row = readRow(program.pid)
  if (row) note(program, row.cpuSeconds + program.othersCpuSeconds, program.othersBytes, [row])
}

function look(): Map<Watched | null, ProcessRow[]> {
  const sorted = owners.sort(readProcessTable(), watched.values())
  for (const [program, rows] of sorted) {
    if (program === null) continue
    const others = rows.filter(({ pid }) => pid !== program.pid)
    program.othersCpuSeconds = sum(others.map(({ cpuSeconds }) => cpuSeconds))
    program.othersBytes = sum(others.map(({ pid }) => readMemory(pid).bytes))
    note(program, sum(rows.map(({ cpuSeconds }) => cpuSeconds)), 0, rows)
  }
  return sorted
}

function note(program: Watched, cpuSeconds: number, otherBytes: number, rows: ProcessRow[]): void {
  program.cpuSeconds = Math.max(program.cpuSeconds ?? 0, cpuSeconds)
  const memory = rows.map(({ pid }) => readMemory(pid))
  const bytes = otherBytes + sum(memory.map((one) => one.bytes))
  program.peakBytes = Math.max(program.peakBytes ?? 0, bytes, ...memory.map(({ peakBytes }) => peakBytes))
  const limit = program.memoryBytesMax
  if (limit === null || bytes <= limit) return
  // Pages that processes share were counted for each of them; before anything is killed they are counted once.
  const pids = new Set([...program.members.keys(), ...rows.map(({ pid }) => pid)])
  const fairBytes = sum([...pids].map(readFairMemory))
  if (fairBytes > limit) killFor(program, { what: 'memory', bytes: fairBytes })
}

async function lookAtFolder(program: Watched): Promise<void> {
  const startMs = performance.now()
  program.folderLookAtMs = Number.POSITIVE_INFINITY
  const bytes = await folderBytes(program.folder, program.folderBytesMax)
  const nowMs = performance.now()
  program.folderLookAtMs = nowMs + Math.max(FOLDER_LOOK_MS, (nowMs - startMs) * FOLDER_LOOK_PAUSES)
  if (bytes > program.folderBytesMax) killFor(program, { what: 'folder', bytes })
}

function killFor(program: Watched, excess: Excess): void {
  if (program.ended) return
  say({ type: 'excess', id: program.id, ...excess })
  killGroup(program)
  for (const pid of program.members.keys()) kill(pid, 'SIGKILL')
}

function terminateLeavers(program: Watched): void {
  if (!LINUX) return
  for (const row of look().get(program) ?? []) if (row.group !== program.pid) kill(row.pid, 'SIGTERM')
}

async function endProgram(id: number, program: Watched | undefined): Promise<void> {
  if (program) program.ended = true
  const { killed, left } = program ? await killAll(program) : { killed: [], left: [] }
  watched.delete(id)
  if (watched.size === 0) {
    clearInterval(ticking)
    ticking = undefined
  }
  const usage = { cpuSeconds: program?.cpuSeconds ?? null, peakMemoryBytes: program?.peakBytes ?? null }
  say({ type: 'ended', id, ...usage, killed, left })
}

/** A process may be born while the table is read, so after a find the table must be found clean twice. */
async function killAll(program: Watched | null): Promise<Pick<Ended, 'killed' | 'left'>> {
  const endMs = performance.now() + KILL_MS_MAX
  const killed = new Map<number, string>()
  let clean = 0
  for (;;) {
    const rows = LINUX ? (look().get(program) ?? []) : []
    // Also where nothing is seen: a group whose members we may not look at can still be told.
    if (program) killGroup(program)
    for (const { pid, name } of rows) {
      killed.set(pid, `${name} (${pid})`)
      kill(pid, 'SIGKILL')
    }
    clean = rows.length === 0 ? clean + 1 : 0
    const left = rows.map(({ pid }) => pid)
    if (clean > (killed.size > 0 ? 1 : 0) || performance.now() > endMs) return { killed: [...killed.values()], left }
    await new Promise((resolve) => setTimeout(resolve, KILL_PAUSE_MS))
  }
}

/** The worker is gone, or has stopped and wants nothing more. */
async function leave(): Promise<void> {
  clearInterval(ticking)
  for (const program of watched.values()) killGroup(program)
  await Promise.all([...watched.values(), null].map((program) => killAll(program)))
  try {
    rmSync(setup.folder, { recursive: true, force: true, maxRetries: 3 })
  } finally {
    process.exit(0)
  }
}

function killGroup(program: Watched): void {
  kill(-program.pid, 'SIGKILL')
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone already.
  }
}

function say(message: FromGuard): void {
  try {
    writeSync(1, `${JSON.stringify(message)}\n`)
  } catch {
    // The worker is gone, and with it who would read this.
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
