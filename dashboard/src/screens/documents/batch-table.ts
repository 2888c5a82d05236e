/** A batch as a table for other programs. Spreadsheets run what begins like a formula, so such texts get a quote in front. */

import { adviceOnRun, type RunEnd } from './advice.ts'
import type { ShownFile } from './shown-files.ts'

const HEAD = ['name', 'state', 'size in bytes', 'handed in', 'what went wrong', 'what to do']
/** Without it one spreadsheet takes the text for another encoding. */
const BYTE_ORDER_MARK = '\uFEFF'

export function csvOf(files: readonly ShownFile[], ends: ReadonlyMap<string, RunEnd>): string {
  const lines = files.map(({ name, size, word, upload, row }) => {
    const end = word === 'ERROR' && upload?.run_id ? ends.get(upload.run_id) : undefined
    const failed = row?.state.at === 'failed' ? row.state.advice : null
    const { what = '', todo = '' } = failed ?? (end ? adviceOnRun(end) : {})
    return [name, word, size, upload?.created_at ?? '', what, todo].map(cell).join(',')
  })
  return `${BYTE_ORDER_MARK}${[HEAD.join(','), ...lines].join('\r\n')}\r\n`
}

function cell(value: string | number): string {
  const text = typeof value === 'number' ? String(value) : value.replace(/^(?=[=+\-@\t\r])/, "'")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
