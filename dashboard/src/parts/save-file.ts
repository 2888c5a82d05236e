/** Has the browser save a text as a file. */

export function saveFile(name: string, parts: BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun by then; it needs the address only for that.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
