/** Graceful stop on SIGTERM or SIGINT, or when the parent that started this process is gone; a second signal ends at once. */

export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    const ask = (why: string) => {
      if (asked) process.exit(130)
      asked = true
      resolve(why)
    }
    process.on('SIGTERM', () => ask('SIGTERM'))
    process.on('SIGINT', () => ask('SIGINT'))
    // A worker started by "holdfast start" has a channel to it, which closes when that process dies, however it dies.
    if (process.channel) process.once('disconnect', () => resolve('the parent process ended'))
  })
}
