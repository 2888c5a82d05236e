/** The state of a screen in its address: read, and changed name by name. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Search } from '../search.ts'

export type Address = {
  search: Search
  /** What is undefined or empty is left out. `isStep`: one can go back from it, as from what was opened. */
  change(more: Search, isStep?: boolean): void
}

export function useAddress(): Address {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  return {
    search,
    change: (more, isStep = false) => void navigate({ to: '.', search: { ...search, ...more }, replace: !isStep }),
  }
}
