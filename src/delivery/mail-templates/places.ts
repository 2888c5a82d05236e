/** Where mails lead to: pages of the dashboard under the public address of the service. */

export type Places = { run(runId: string): string; batch(batchId: string): string; documents(): string }

/** `publicUrl` has no slash at its end; it may have a path. */
export function placesUnder(publicUrl: string): Places {
  return {
    run: (runId) => `${publicUrl}/ui/runs/${encodeURIComponent(runId)}`,
    batch: (batchId) => `${publicUrl}/ui/documents?batch=${encodeURIComponent(batchId)}`,
    documents: () => `${publicUrl}/ui/documents`,
  }
}
