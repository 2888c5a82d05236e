/**
 * The files among the parameters of a run that is about to be made: its owner must have each of them, and they become part of the run.
 *
 * Models without file parameters pass by without a question. A file that its owner gives up between the answer here and the commit is
 * refused by the database, in the same words.
 */

import type { ModelDefinition } from '../run/definition.ts'
import { fileNotFound } from '../run/file-not-found.ts'
import { filesAmong } from '../run/file-parameters.ts'
import type { DescribedFile, Files } from '../store/ports/files.ts'
import type { NewRun } from '../store/store.ts'

export type ResolvedRun = NewRun & { files?: DescribedFile[] }

/** A file that is recorded together with the run, so that nobody has to have it before. */
export type ArrivingFile = { fileId: string; name: string; bytes: number; type: string }

/** Throws a Refusal for files that the owner does not have. */
export async function withFiles(
  run: NewRun,
  { model, files, arriving }: { model: ModelDefinition; files: Files; arriving?: ArrivingFile },
): Promise<ResolvedRun> {
  const named = filesAmong(run.parameters, model.parametersSchema)
  if (named.length === 0) return run as ResolvedRun
  const asked = new Set(named.map(({ fileId }) => fileId))
  if (arriving) asked.delete(arriving.fileId)
  const owned = asked.size === 0 ? new Map<string, never>() : await files.findMany([...asked], run.owner)
  const found = (id: string) => (id === arriving?.fileId ? arriving : owned.get(id))
  const missing = named.filter(({ fileId }) => !found(fileId))
  if (missing.length > 0) throw fileNotFound(missing)
  return {
    ...run,
    files: named.map((file) => {
      const { name, bytes, type } = found(file.fileId)!
      return { ...file, name, bytes, type }
    }),
  }
}
