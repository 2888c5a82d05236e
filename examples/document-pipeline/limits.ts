/**
 * What one document may cost. Past `bytesMax` and the limits of unpacking and time it is refused; past the others the rest
 * is left out.
 */

export type Limits = {
  /** Of the file itself. */
  bytesMax: number
  /** Of everything a ZIP archive says it unpacks to, of one part that is read, and of how many times its size that may be. */
  unpackedBytesMax: number
  partBytesMax: number
  unpackedRatioMax: number
  entriesMax: number
  /** Of one stream of a PDF that is no image, unpacked. */
  streamBytesMax: number
  /** Pages read of a PDF. */
  pagesMax: number
  /** Of markup or table that is read. */
  sourceCharactersMax: number
  /** Of text kept for the later steps. */
  charactersMax: number
  columnsMax: number
  rowsMax: number
  /** How long the text may take to get out. */
  extractMs: number
}

const MEGABYTE = 1024 * 1024

export const LIMITS: Readonly<Limits> = Object.freeze({
  bytesMax: 64 * MEGABYTE,
  unpackedBytesMax: 200 * MEGABYTE,
  partBytesMax: 64 * MEGABYTE,
  unpackedRatioMax: 200,
  entriesMax: 10_000,
  streamBytesMax: 16 * MEGABYTE,
  pagesMax: 500,
  sourceCharactersMax: 16_000_000,
  charactersMax: 500_000,
  columnsMax: 10_000,
  rowsMax: 100_000,
  extractMs: 20_000,
})
