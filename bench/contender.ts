/**
 * The port every contender implements, so that all of them are measured by the same code.
 *
 * A producer lives in the process that measures, a worker always in a process of its own (`worker-process.ts`).
 * Payloads are `{n}` with a number that is used once.
 */

/** Where a contender works: its own database, and a folder for files that goes away with the benchmark. */
export type Place = { url: string; folder: string }

/**
 * Some contenders have a switch that makes starts quicker and throughput lower; each measurement says what it is
 * after.
 */
export type Aim = 'throughput' | 'latency'

export type Producer = {
  submit(n: number): Promise<void>
  submitMany(numbers: number[]): Promise<void>
  close(): Promise<void>
}

export type WorkerHooks = {
  /** The handler of run `n` begins. */
  onStart(n: number): void
  /** One run is over, as far as the contender tells; for some that is before its commit. */
  onDone(): void
}

export type Contender = {
  name: string
  /** What was chosen for it, printed with the results. */
  settings: string
  /** Makes its tables in an empty database. */
  install(place: Place): Promise<void>
  openProducer(place: Place, aim: Aim): Promise<Producer>
  /** Resolves when it takes runs; it goes on until its process ends. */
  startWorker(place: Place, aim: Aim, hooks: WorkerHooks): Promise<void>
  /** A query with one row and one column: true when no run is waiting or executing. */
  drainedQuery: string
}
