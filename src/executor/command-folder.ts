/**
 * The folder of one attempt of a command: its files for talking with us, an empty folder for output, one for temporary files, and the working
 * folder, in which the files of the model's own folder appear as links. Only its user may look inside, and it is removed with the attempt.
 *
 * The folders of one worker lie in one that is named after its process, so that a later worker on the same host can remove what
 * a crash of the machine left.
 */

import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { InputFile } from './executor.ts'

export type AttemptFolder = {
  path: string
  work: string
  output: string
  temporary: string
  parameters: string
  result: string
  error: string
  progress: string
  cost: string
  /** Names the input files; null when there are none. */
  files: string | null
}

const PRIVATE = 0o700

/** `<host>.<process id>.<random>`; the host because others may share the disk, and their process ids mean nothing here. */
export function workerFolderIn(workFolder: string): string {
  return resolve(workFolder, `${hostPart()}.${process.pid}.${randomUUID()}`)
}

export async function makeAttemptFolder(
  workerFolder: string,
  names: { runId: string; attempt: number },
  contents: { parametersText: string; source: string | undefined; files?: readonly InputFile[] },
): Promise<AttemptFolder> {
  const path = join(workerFolder, `${names.runId}.a${names.attempt}.${randomUUID().slice(0, 8)}`)
  const inside = (name: string) => join(path, name)
  const folder: AttemptFolder = {
    path,
    work: inside('work'),
    output: inside('output'),
    temporary: inside('tmp'),
    parameters: inside('parameters.json'),
    result: inside('result.json'),
    error: inside('error.json'),
    progress: inside('progress.jsonl'),
    cost: inside('cost.txt'),
    files: contents.files?.length ? inside('files.json') : null,
  }
  await mkdir(path, { recursive: true, mode: PRIVATE })
  for (const part of [folder.work, folder.output, folder.temporary]) await mkdir(part, { mode: PRIVATE })
  await writeFile(folder.parameters, contents.parametersText, { mode: 0o600 })
  if (contents.source !== undefined) await linkContents(contents.source, folder.work)
  if (folder.files !== null) await linkFiles(contents.files!, inside('files'), folder.files)
  return folder
}

/** The copies lie elsewhere and are shared by parameters that name the same file; a link costs nothing of the folder's limit. */
async function linkFiles(files: readonly InputFile[], into: string, listPath: string): Promise<void> {
  await mkdir(into, { mode: PRIVATE })
  const listed = []
  const linked = new Set<string>()
  for (const { parameter, fileId, name, bytes, type, path: target } of files) {
    const path = join(into, basename(target))
    if (!linked.has(path)) await symlink(target, path)
    linked.add(path)
    listed.push({ parameter, file_id: fileId, name, size: bytes, type, path })
  }
  await writeFile(listPath, JSON.stringify(listed), { mode: 0o600 })
}

/** New files stay in the attempt's folder; the model's own are seen where they are. */
async function linkContents(source: string, work: string): Promise<void> {
  const names = await readdir(source)
  await Promise.all(names.map((name) => symlink(join(source, name), join(work, name))))
}

/** Also where the program took its own rights to it away. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    await giveRights(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function giveRights(folder: string): Promise<void> {
  await chmod(folder, PRIVATE)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await giveRights(join(folder, entry.name))
  }
}

/** Removes what workers of this host that are gone left; their guards do it too, unless they died as well. */
export async function removeAbandoned(workFolder: string): Promise<void> {
  const names = await readdir(workFolder).catch(() => [])
  const prefix = `${hostPart()}.`
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length).split('.', 1)[0])
    if (Number.isInteger(pid) && pid > 0 && !isRunning(pid)) await removeFolder(join(workFolder, name)).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function hostPart(): string {
  return hostname().replaceAll(/[^A-Za-z0-9-]/g, '_') || 'host'
}
