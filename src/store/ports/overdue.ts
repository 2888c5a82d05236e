/** The port to attempts that take far longer than expected. What is found is flagged, once; ending it is the timeout's and the lease's business. */

export type OverdueRun = {
  runId: string
  attempt: number
  workerId: string
  model: string
  queue: string
  executor: string
  payloadHash: string
  /** Of an attempt of this model, as it was expected when the run was submitted. */
  expectedSeconds: number
  /** Since the attempt started. */
  runningSeconds: number
}

export interface Overdue {
  /** Running attempts that have just become overdue, at most so many, each with its event. No attempt is answered twice, whoever asks. */
  flag(limit: number): Promise<OverdueRun[]>
  /** Forgets flags of attempts that have ended, at most so many; answers how many. */
  forget(limit: number): Promise<number>
  /** How many runs are overdue now. */
  count(): Promise<number>
}
