/**
 * Does something in one tab of the browser at a time, and in one that is being looked at if there is one: browsers slow down the
 * timers of tabs that are hidden. A tab that comes into view takes over; one that is closed leaves its turn to the next.
 *
 * `work` goes on until its signal is aborted. Without locks (on plain http to another machine) each tab works for itself.
 */
export async function takeTurns(
  name: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (!('locks' in navigator)) return work(signal)
  let isMine = false
  let waiting = new AbortController()
  let takesOver = document.visibilityState === 'visible'
  const onVisible = () => {
    takesOver = !isMine && document.visibilityState === 'visible'
    if (takesOver) waiting.abort()
  }
  document.addEventListener('visibilitychange', onVisible, { signal })
  while (!signal.aborted) {
    const turn = new AbortController()
    waiting = new AbortController()
    const how = takesOver ? { steal: true } : { signal: AbortSignal.any([signal, waiting.signal]) }
    takesOver = false
    const begin = () => {
      isMine = true
      return work(AbortSignal.any([signal, turn.signal]))
    }
    try {
      await navigator.locks.request(name, how, begin)
    } catch (error) {
      // Another tab took over, or this one is about to; anything else would fail forever.
      if (!isMine && !waiting.signal.aborted && !signal.aborted) throw error
    }
    isMine = false
    turn.abort()
  }
}
