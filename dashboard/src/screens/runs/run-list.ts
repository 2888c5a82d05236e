/**
 * The list that is on the screen: reads pages, one request at a time, and tells who watches when it has changed. What is shown is always
 * what the service answered; that something happened only marks it as old, and `refresh` reads what is in view again.
 */

import {
  type Answer,
  appended,
  NOTHING_READ,
  newAhead,
  type Order,
  type RunPages,
  replaced,
  rowsOf,
  staleStretch,
} from './run-pages.ts'
import type { RunRow } from './run-row.ts'

const FIRST_SIZE = 100
const PAGE_SIZE = 200
const NEWEST_SIZE = 50
/** Who has scrolled that far needs a narrower filter, and the browser its memory. */
export const ROWS_MAX = 50_000

export type Ahead = { count: number; isMore: boolean }
const NONE_AHEAD: Ahead = { count: 0, isMore: false }

export type Shown = {
  rows: readonly RunRow[]
  /** There are more runs behind these. */
  hasMore: boolean
  isReading: boolean
  /** Why reading on did not work. */
  error: unknown
  /** New runs that are not shown because someone reads further down. */
  ahead: Ahead
}

export type View = { from: number; to: number }

type Read = (cursor: string | null, limit: number) => Promise<Omit<Answer, 'stamp'>>

export class RunList {
  /** The rows that can be seen now. */
  view: View = { from: 0, to: 0 }
  /** The run that the keyboard is at; kept for whoever comes back. */
  activeId: string | null = null
  readonly #read: Read
  readonly #order: Order
  readonly #watchers = new Set<() => void>()
  #pages: RunPages = NOTHING_READ
  #shown: Shown = { rows: [], hasMore: false, isReading: false, error: null, ahead: NONE_AHEAD }
  #turn: Promise<unknown> = Promise.resolve()
  /** How many changes were heard of, and up to which of them it is known what is new above the view. */
  #changes = 0
  #aheadStamp = 0

  constructor(read: Read, order: Order) {
    this.#read = read
    this.#order = order
  }

  get shown(): Shown {
    return this.#shown
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  async open(): Promise<void> {
    await this.#inTurn(async () => this.#keep(appended(this.#pages, await this.#ask(null, FIRST_SIZE))))
  }

  /** Reads on. A page may be empty and not be the last: it goes on until something came, or nobody watches any more. */
  async more(): Promise<void> {
    const { isReading, hasMore, rows } = this.#shown
    if (isReading || !hasMore || rows.length >= ROWS_MAX) return
    this.#set({ isReading: true, error: null })
    try {
      do {
        await this.#inTurn(async () => {
          if (this.#pages.next === null) return
          this.#keep(appended(this.#pages, await this.#ask(this.#pages.next, PAGE_SIZE)))
        })
      } while (this.#watchers.size > 0 && this.#shown.hasMore && this.#shown.rows.length <= rows.length)
      this.#set({ isReading: false })
    } catch (error) {
      this.#set({ isReading: false, error })
    }
  }

  /** Something happened: what is shown may be old. */
  touch(): void {
    this.#changes += 1
  }

  get isOld(): boolean {
    return this.#aheadStamp < this.#changes || staleStretch(this.#pages, this.view, this.#changes) !== null
  }

  /** Reads what is in view again, and whether there is something new above it. What happens meanwhile is left for the next time. */
  async refresh(): Promise<void> {
    const wanted = this.#changes
    for (let isDone = false; !isDone; ) {
      isDone = await this.#inTurn(async () => {
        const stretch = staleStretch(this.#pages, this.view, wanted)
        if (!stretch) return true
        const limit = Math.min(PAGE_SIZE, Math.max(NEWEST_SIZE, stretch.count))
        const answer = await this.#ask(this.#pages.pages[stretch.first]!.cursor, limit)
        this.#keep(replaced(this.#pages, stretch.first, answer, this.#order))
        return false
      })
    }
    await this.#lookAhead(wanted)
  }

  /** Shows what is new, from the top. */
  async showNewest(): Promise<void> {
    this.view = { from: 0, to: this.view.to - this.view.from }
    this.touch()
    await this.refresh()
  }

  async #lookAhead(wanted: number): Promise<void> {
    const isFirstRead = (this.#pages.pages[0]?.stamp ?? 0) >= wanted
    if (this.#order === 'created_at_asc' || isFirstRead) this.#set({ ahead: NONE_AHEAD })
    else {
      await this.#inTurn(async () => {
        const { rows } = await this.#ask(null, NEWEST_SIZE)
        this.#set({ ahead: newAhead(this.#pages, rows) })
      })
    }
    this.#aheadStamp = wanted
  }

  async #ask(cursor: string | null, limit: number): Promise<Answer> {
    const stamp = this.#changes
    return { ...(await this.#read(cursor, limit)), stamp }
  }

  #keep(pages: RunPages): void {
    this.#pages = pages
    this.#set({ rows: rowsOf(pages), hasMore: pages.next !== null })
  }

  #set(changed: Partial<Shown>): void {
    this.#shown = { ...this.#shown, ...changed }
    for (const watcher of this.#watchers) watcher()
  }

  /** Answers would contradict each other if two were waited for at once. */
  #inTurn<Got>(act: () => Promise<Got>): Promise<Got> {
    const turn = this.#turn.then(act)
    this.#turn = turn.catch(() => {})
    return turn
  }
}
