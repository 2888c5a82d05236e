/** What the worker and its guard of commands say to each other, one JSON text per line. `id` names an attempt. */

export type Watch = {
  type: 'watch'
  id: number
  /** The program's first process. */
  pid: number
  /** The value of HOLDFAST_MARK in its environment. */
  mark: string
  folder: string
  /** Null for no limit. */
  memoryBytesMax: number | null
  folderBytesMax: number
}

export type ToGuard =
  | Watch
  /** SIGTERM for those of its processes that have left its group; the worker tells the group. */
  | { type: 'terminate'; id: number }
  /** Kill whatever is left of it and say when it is gone. */
  | { type: 'end'; id: number }

/** The guard has killed the program for it. */
export type Excess = { what: 'memory' | 'folder'; bytes: number }

export type Ended = {
  cpuSeconds: number | null
  peakMemoryBytes: number | null
  /** Processes that were left when the program had ended, such as `sleep (4711)`, and have been killed. */
  killed: string[]
  /** Those that could not be killed. */
  left: number[]
}

export type FromGuard = ({ type: 'excess'; id: number } & Excess) | ({ type: 'ended'; id: number } & Ended)

export type GuardSetup = {
  /** All marks of this worker begin with it. */
  markPrefix: string
  /** The folder of this worker's attempts, removed when the worker is gone. */
  folder: string
}
