/** What went wrong in words: what the service said, and what to do next. */

import { HoldfastError } from '@holdfast/client'

export type ErrorWords = {
  title: string
  detail: string
  next: string | null
  code: string | null
  requestId: string | null
}

export function errorWords(error: unknown): ErrorWords {
  const { problem = null, status = null, code = null } = error instanceof HoldfastError ? error : {}
  if (problem) {
    const { title, detail, next, instance } = problem
    return { title, detail, next: next ?? null, code, requestId: instance ?? null }
  }
  const detail = error instanceof Error ? error.message : String(error)
  if (error instanceof HoldfastError && status === null) {
    const next = 'Check that the service is running and that you are connected; this page tries again by itself.'
    return { title: 'The service cannot be reached', detail, next, code, requestId: null }
  }
  return { title: 'Something went wrong', detail, next: null, code, requestId: null }
}

/** One line of it. */
export function errorLine(error: unknown): string {
  const { title, detail } = errorWords(error)
  return detail || title
}
