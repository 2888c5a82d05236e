/**
 * Why a document can never be read, as a class and a sentence that says what to do. It is a `Fatal`: the same bytes would fail
 * the same way again, so nothing is retried.
 */

import { Fatal } from 'holdfast'

export type Refusal =
  | 'EmptyDocument'
  | 'UnsupportedKind'
  | 'EncryptedDocument'
  | 'TruncatedDocument'
  | 'DamagedDocument'
  | 'DocumentTooLarge'
  | 'ZipBomb'
  | 'UnsafeDocument'
  | 'DocumentTooSlow'

export class RefusedDocument extends Fatal {
  override readonly name: Refusal

  constructor(name: Refusal, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = name
  }
}

export function tooWide(columns: number, columnsMax: number): RefusedDocument {
  const message = `the table has ${columns} columns, of ${columnsMax} allowed; upload the columns that matter`
  return new RefusedDocument('DocumentTooLarge', message)
}
