/** The program that runs a model elsewhere (python/holdfast_ray_job.py), packed to travel in one variable, and what it is told to run. */

import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import type { ModelDefinition } from '../run/definition.ts'

const PROGRAM = new URL('../../python/holdfast_ray_job.py', import.meta.url)

/** Files with secrets are named here and read on the cluster: their content does not travel. */
export function workOf({ command, python, ray }: ModelDefinition) {
  if (!command) return { callable: python!.callable }
  return {
    argv: command.argv,
    env: command.env ?? {},
    secrets: command.secrets ?? {},
    result: command.result ?? null,
    fatal_exit_codes: command.fatalExitCodes ?? null,
    memory_mb: command.memoryMb ?? null,
    stdin: command.stdin ?? true,
    linked: command.folder !== undefined || ray?.runtimeEnv?.working_dir !== undefined,
  }
}

let packed: string | undefined

export function packedProgram(): string {
  packed ??= deflateSync(readFileSync(PROGRAM), { level: 9 }).toString('base64')
  return packed
}
