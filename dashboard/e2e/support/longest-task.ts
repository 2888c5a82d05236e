/**
 * The longest task of a page's main thread while something is done: by the clock, and as the time it was computing. Only the second is about
 * the page alone: on a machine that does other things too, any task may take long by the clock.
 */

import type { Page } from 'playwright-core'

type TraceEvent = {
  name: string
  ph: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args?: { name?: string }
}

export async function longestTask<Got>(page: Page, act: () => Promise<Got>) {
  const browser = page.context().browser()!
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] })
  const got = await act()
  // A task that answers is not over yet, and one that is not over is not in the trace.
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => setTimeout(next))))
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const mains = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(threadOf),
  )
  const tasks = traceEvents.filter(
    (event) => event.ph === 'X' && /RunTask/.test(event.name) && mains.has(threadOf(event)),
  )
  const longest = (time: (task: TraceEvent) => number | undefined) =>
    Math.round(tasks.reduce((worst, task) => Math.max(worst, time(task) ?? 0), 0) / 1_000)
  return { got, tasks: tasks.length, clockMs: longest(({ dur }) => dur), computingMs: longest(({ tdur }) => tdur) }
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`
}
