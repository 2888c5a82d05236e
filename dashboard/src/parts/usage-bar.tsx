/** How much of something is in use: a bar, and the numbers beside it. Without a limit there is no bar. */

import { formatNumber } from './format.ts'
import classes from './usage-bar.module.css'

export function UsageBar({ used, of, label, isCapped = false }: UsageBarProps) {
  const words = `${formatNumber(used)}${isCapped ? '+' : ''} of ${formatNumber(of)}`
  const share = of > 0 ? Math.min(1, used / of) : 0
  return (
    <span className={classes.usage}>
      <span className={classes.bar} data-full={share >= 1 || undefined} role="img" aria-label={`${label}: ${words}`}>
        <span className={classes.used} style={{ width: `${share * 100}%` }} />
      </span>
      <span aria-hidden>
        {formatNumber(used)}
        {isCapped && '+'} / {formatNumber(of)}
      </span>
    </span>
  )
}

type UsageBarProps = { used: number; of: number; label: string; isCapped?: boolean }
