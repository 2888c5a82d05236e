/** Searches JSON while someone types, in slices, and remembers which match is looked at. */

import { useEffect, useState } from 'react'
import type { JsonPath } from './json-view-tree.ts'
import { foundIn } from './json-view-walk.ts'
import { inSlices } from './slices.ts'

const MATCHES_MAX = 1_000
const TYPING_MS = 150

export type JsonSearch = {
  text: string
  setText(text: string): void
  matches: JsonPath[]
  /** There are more than are listed. */
  isCapped: boolean
  isSearching: boolean
}

const NONE: Pick<JsonSearch, 'matches' | 'isCapped' | 'isSearching'> = {
  matches: [],
  isCapped: false,
  isSearching: false,
}

export function useJsonSearch(value: unknown): JsonSearch {
  const [text, setText] = useState('')
  const [found, setFound] = useState(NONE)
  useEffect(() => {
    setFound({ ...NONE, isSearching: text !== '' })
    if (text === '') return
    const stop = new AbortController()
    const matches: JsonPath[] = []
    const take = (items: (JsonPath | null)[], isDone: boolean) => {
      for (const item of items) if (item !== null) matches.push(item)
      const isCapped = matches.length > MATCHES_MAX
      if (items.some((item) => item !== null) || isDone || isCapped) {
        setFound({ matches: matches.slice(0, MATCHES_MAX), isCapped, isSearching: !isDone && !isCapped })
      }
      return !isCapped
    }
    const timer = setTimeout(() => void inSlices(foundIn(value, text), take, stop.signal), TYPING_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [value, text])
  return { text, setText, ...found }
}

/** `3 of 12`, as people say it. */
export function matchWords({ text, matches, isCapped, isSearching }: JsonSearch, at: number): string {
  if (text === '') return ''
  if (matches.length === 0) return isSearching ? 'Searching…' : 'No match'
  return `${at + 1} of ${matches.length}${isCapped ? '+' : ''}${isSearching ? '…' : ''}`
}
