/** What a person can do about a document that failed, by the class of its error. Errors of models say more themselves; this is the next step. */

const TRY_AGAIN =
  'This was not the fault of the document. Open it and choose “Retry”; if it fails again, tell whoever runs the service.'
const TOO_MUCH = 'The document is more than one step can take. Split it into smaller ones and upload those.'
const REPAIR = 'Open the original, save it anew and upload the new copy.'

const ADVICE: Record<string, string> = {
  EmptyDocument: 'The document is empty. Check that the right file was uploaded.',
  UnsupportedKind:
    'This kind of file is not read. Save it as PDF, Word, HTML, Markdown, CSV or plain text and upload it again.',
  EncryptedDocument: 'The document is protected by a password. Save a copy without one and upload that.',
  TruncatedDocument: `The end of the document is missing. ${REPAIR}`,
  DamagedDocument: `The document is damaged. ${REPAIR}`,
  DocumentTooLarge: TOO_MUCH,
  DocumentTooSlow: TOO_MUCH,
  ZipBomb: 'The document unpacks to far more than its size says, and is not read. Upload the original.',
  UnsafeDocument: 'The document holds something that is not safe to read. Upload it in another format.',
  Timeout: TOO_MUCH,
  OutOfMemory: TOO_MUCH,
  MemoryLimit: TOO_MUCH,
  WorkerLost: TRY_AGAIN,
  ProcessCrashed: TRY_AGAIN,
  ArtifactStoreFull: TRY_AGAIN,
  ArtifactStoreFailed: TRY_AGAIN,
  InputFileUnavailable: TRY_AGAIN,
  InputFileDamaged: 'The stored copy of the document is damaged. Upload it again.',
}

const OTHERWISE =
  'Open the document to see what happened. When the reason is gone, choose “Retry” there; nothing has to be uploaded again.'

export function adviceFor(errorClass: string): string {
  return Object.hasOwn(ADVICE, errorClass) ? ADVICE[errorClass]! : OTHERWISE
}
