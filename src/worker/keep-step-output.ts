/**
 * Keeps what a step gave: inline when small, else in a blob that is durable before the step is. The blob is named after its
 * bytes, so another output under the same name never touches the one that was kept. The same for our own workers and for remote ones.
 */

import type { BlobStore } from '../blob/blob.ts'
import { sha256 } from '../run/canonical.ts'
import type { StepOutput } from '../store/ports/steps.ts'

export type KeepStepOutputOptions = { blob: BlobStore; inlineBytes: number; maxBytes: number }

export class StepOutputTooLarge extends Error {
  constructor(bytes: number, maxBytes: number) {
    super(`The output has ${bytes} bytes; at most ${maxBytes} are accepted (HOLDFAST_RESULT_MAX_BYTES).`)
    this.name = 'StepOutputTooLarge'
  }
}

/** `text` is canonical. Rejects with a StepOutputTooLarge, or as the blob store does. */
export async function keepStepOutput(
  { blob, inlineBytes, maxBytes }: KeepStepOutputOptions,
  runId: string,
  name: string,
  text: string,
): Promise<StepOutput> {
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) throw new StepOutputTooLarge(bytes, maxBytes)
  const facts = { hash: sha256(text), bytes }
  if (bytes <= inlineBytes) return { ...facts, ref: 'inline', text }
  const { ref } = await blob.put(
    `${runId}.step-${sha256(`${name}\n${facts.hash}`).slice(0, 32)}.json`,
    Buffer.from(text),
  )
  return { ...facts, ref, text: null }
}
