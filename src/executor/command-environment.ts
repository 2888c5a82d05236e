/**
 * The environment of a command: the allow-list that every child has, what the model names and sets, its secrets, and what tells the program about
 * its attempt. Later ones win, so no model can give a program another run's id. Nothing else of ours is in it.
 */

import { readFile } from 'node:fs/promises'
import type { CommandSpec } from '../run/definition.ts'
import { childEnvironment } from './child-environment.ts'
import type { AttemptFolder } from './command-folder.ts'
import type { AttemptInput } from './executor.ts'
import { MARK_NAME } from './process-table.ts'

const SECRET_BYTES_MAX = 64 * 1024

export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

/** Read at each attempt, so that a changed secret needs no restart. Errors name the variable and never the file or its content. */
export async function readSecrets(files: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  const entries = Object.entries(files).map(async ([name, file]) => [name, await readSecret(name, file)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

async function readSecret(name: string, file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new SecretUnreadable(`the file of the secret ${name} could not be read: ${error.code ?? 'unknown reason'}`)
  })
  if (bytes.byteLength > SECRET_BYTES_MAX) {
    throw new SecretUnreadable(`the file of the secret ${name} is larger than ${SECRET_BYTES_MAX} bytes`)
  }
  // Editors and `echo` end a file with a line break that is no part of the secret.
  const value = bytes.toString('utf8').replace(/\r?\n$/, '')
  if (value.includes('\0')) throw new SecretUnreadable(`the secret ${name} holds a NUL, which no variable can carry`)
  return value
}

export function commandEnvironment(options: {
  source: Readonly<Record<string, string | undefined>>
  /** Names the operator passes on to every model. */
  envNames: readonly string[]
  spec: CommandSpec
  secrets: Readonly<Record<string, string>>
  input: AttemptInput
  folder: AttemptFolder
  mark: string
}): Record<string, string> {
  const { spec, input, folder } = options
  return {
    ...childEnvironment(options.source, [...options.envNames, ...(spec.envNames ?? [])]),
    // Written into the attempt's folder, temporary files are counted and removed with it.
    TMPDIR: folder.temporary,
    ...spec.env,
    ...options.secrets,
    HOLDFAST_RUN_ID: input.runId,
    HOLDFAST_ATTEMPT: String(input.attempt),
    HOLDFAST_MODEL: input.model,
    HOLDFAST_MODEL_VERSION: input.modelVersion,
    HOLDFAST_SEED: String(input.seed),
    HOLDFAST_PARAMETERS: folder.parameters,
    HOLDFAST_RESULT: folder.result,
    HOLDFAST_ERROR: folder.error,
    HOLDFAST_PROGRESS: folder.progress,
    HOLDFAST_COST: folder.cost,
    HOLDFAST_OUTPUT_DIR: folder.output,
    ...(folder.files !== null && { HOLDFAST_FILES: folder.files }),
    [MARK_NAME]: options.mark,
  }
}

/** A secret of several lines is also hidden line by line; shorter pieces would be found where they mean nothing. */
const HIDDEN_LENGTH_MIN = 4
const HIDDEN_LINE_LENGTH_MIN = 12

/** What must not be seen in anything the program says; the longest first, so that none is left of another. */
export function hiddenPieces(secrets: Readonly<Record<string, string>>): string[] {
  const pieces = Object.values(secrets).flatMap((value) => [
    ...(value.length >= HIDDEN_LENGTH_MIN ? [value] : []),
    ...value.split(/\r?\n/).filter((line) => line.length >= HIDDEN_LINE_LENGTH_MIN),
  ])
  return [...new Set(pieces)].sort((a, b) => b.length - a.length)
}
