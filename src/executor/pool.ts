/**
 * The warm pool of children. A child is started when somebody waits for one and none is free, runs one attempt at a time, and is kept
 * for the next. There are never more than `childrenMax`; who finds none free waits in line.
 *
 * Each waiter that finds no free child causes one start, and a failed start is told to the first in line, so models that
 * cannot be loaded fail the attempts that need them and never make the pool start children in a circle.
 */

import { ownError } from '../model/attempt-error.ts'
import { ChildHandle, type ChildListener, type ChildOptions } from './child-handle.ts'
import type { AttemptError } from './executor.ts'
import { exitError } from './exit-error.ts'

export type Waiter = {
  /** Wants a child that has never run anything. */
  readonly alone: boolean
  onChild(child: ChildHandle): void
  onNoChild(error: AttemptError): void
}

export type PoolOptions = {
  child: ChildOptions
  childrenMax: number
  /** A child that is not ready after this long is given up. */
  startMs: number
  /** Idle children beyond `idleKept` are ended after this long. */
  idleMs: number
  idleKept: number
}

export class Pool {
  readonly #options: PoolOptions
  /** Every child that has not ended, whatever it does. */
  readonly #children = new Set<ChildHandle>()
  readonly #starting = new Set<ChildHandle>()
  /** The longest idle first; the last is taken first, so that the others can go. */
  readonly #idle: ChildHandle[] = []
  readonly #waiting: Waiter[] = []
  #sweep: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#children.size
  }

  acquire(waiter: Waiter): void {
    this.#waiting.push(waiter)
    this.#serve()
  }

  withdraw(waiter: Waiter): void {
    const index = this.#waiting.indexOf(waiter)
    if (index !== -1) this.#waiting.splice(index, 1)
  }

  /** The attempt is over and the child is fit for the next. */
  release(child: ChildHandle): void {
    if (!child.usable) return
    if (this.#stopped) {
      child.end()
      return
    }
    child.listener = this.#idleListener(child)
    child.idleSinceMs = performance.now()
    this.#idle.push(child)
    this.#serve()
    this.#planSweep()
  }

  /** Ends all children and waits until they are gone. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#sweep)
    for (const child of this.#starting) child.kill()
    for (const child of this.#idle.splice(0)) child.end()
    await Promise.all([...this.#children].map((child) => child.exited))
  }

  /** In line order: a free child, else one that is starting already, else a new one where there is a place for it. */
  #serve(): void {
    if (this.#stopped) return
    let coming = this.#starting.size
    // A child that is about to end gives up its place, but the next starts only when it is gone.
    let places = this.#options.childrenMax - [...this.#children].filter((child) => child.usable).length
    for (const waiter of [...this.#waiting]) {
      const child = this.#takeIdle(waiter.alone)
      if (child) {
        this.withdraw(waiter)
        waiter.onChild(child)
      } else if (coming > 0) coming--
      else if (places > 0) {
        places--
        if (this.#children.size < this.#options.childrenMax) this.#start()
      } else if (waiter.alone) {
        // All places are taken, and a used child is no help: it makes way before somebody later in line gets it.
        this.#idle.shift()?.end()
      }
    }
  }

  #takeIdle(alone: boolean): ChildHandle | undefined {
    const index = this.#idle.findLastIndex((child) => child.usable && (!alone || child.fresh))
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0]
  }

  #start(): void {
    const child: ChildHandle = new ChildHandle(this.#options.child, {
      onMessage: (message) => {
        if (message.type === 'ready') this.#becomeReady(child)
        if (message.type === 'not-ready') this.#failStart(child, message.error)
      },
      onLine: () => {},
      onExit: (report) => this.#failStart(child, startFailed(exitError(report).message)),
    })
    this.#children.add(child)
    this.#starting.add(child)
    const { startMs } = this.#options
    const tooLong = setTimeout(() => {
      this.#failStart(child, startFailed(`its models took longer than ${startMs / 1000} s to load`))
    }, startMs)
    tooLong.unref()
    void child.exited.then(() => {
      clearTimeout(tooLong)
      this.#forget(child)
    })
  }

  #becomeReady(child: ChildHandle): void {
    this.#starting.delete(child)
    this.release(child)
  }

  #failStart(child: ChildHandle, error: AttemptError): void {
    if (!this.#starting.delete(child)) return
    child.kill()
    this.#waiting.shift()?.onNoChild(error)
  }

  #forget(child: ChildHandle): void {
    this.#children.delete(child)
    this.#serve()
  }

  #idleListener(child: ChildHandle): ChildListener {
    return {
      onMessage: () => {},
      onLine: () => {},
      onExit: () => {
        const index = this.#idle.indexOf(child)
        if (index !== -1) this.#idle.splice(index, 1)
      },
    }
  }

  #planSweep(): void {
    if (this.#sweep !== undefined || this.#idle.length <= this.#options.idleKept) return
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined
      const longAgoMs = performance.now() - this.#options.idleMs + 1
      while (this.#idle.length > this.#options.idleKept && (this.#idle[0]?.idleSinceMs ?? 0) <= longAgoMs) {
        this.#idle.shift()?.end()
      }
      this.#planSweep()
    }, this.#options.idleMs)
    this.#sweep.unref()
  }
}

function startFailed(why: string): AttemptError {
  return ownError('ProcessNotStarted', `no child process became ready: ${why}`)
}
