/** What is on record about stored bytes: which of them no row names. */

export interface Blobs {
  /**
   * Of these references, those that no row names and none will name any more. The bytes must have been stored long enough ago for a row
   * that was to name them to be there. References of another shape than ours are never among them.
   */
  unnamed(refs: readonly string[]): Promise<string[]>
}
