/** The port to saved views: filters of the list of runs that people have given a name. A view is seen by its owner and, when shared, by all. */

import type { RunOrder } from './search.ts'

export type NewView = {
  owner: string
  name: string
  /** As the API takes it. */
  filter: unknown
  order: RunOrder
  shared: boolean
}

export type View = NewView & { id: string; createdAt: Date; updatedAt: Date }

/** Who asks: with `sees` null also views of others may be read and changed by id. */
export type ViewCaller = { owner: string; sees: string | null }

export interface Views {
  /** `exists`: the owner has a view of that name. `too-many`: the owner has as many as one may have. */
  create(view: NewView): Promise<View | 'exists' | 'too-many'>
  read(id: string, caller: ViewCaller): Promise<View | null>
  /** The caller's own and the shared ones, by name. */
  list(
    caller: ViewCaller,
    page: { limit: number; cursor: string | null },
  ): Promise<{ views: View[]; nextCursor: string | null }>
  /** The view keeps its owner. */
  replace(id: string, view: Omit<NewView, 'owner'>, caller: ViewCaller): Promise<View | 'exists' | null>
  remove(id: string, caller: ViewCaller): Promise<boolean>
}
