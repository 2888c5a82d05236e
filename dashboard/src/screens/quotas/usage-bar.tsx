/**
 * One limit: how much of it is used, by what, and whether that is a worry; in words and shapes as well as in colour.
 */

import type { QuotaUsage } from '@holdfast/client'
import { type Look, ToneBadge } from '../../parts/tone-badge.tsx'
import classes from './usage-bar.module.css'
import {
  ACTION_WORDS,
  amountWords,
  LIMIT_WORDS,
  levelOf,
  percentOf,
  ruleWords,
  sharesOf,
  sourceWords,
  type UsageLevel,
} from './usage-words.ts'

const LOOKS: Record<Exclude<UsageLevel, 'calm'>, Look> = {
  near: { word: 'Nearly used up', shape: '▲', tone: 'waiting' },
  full: { word: 'Used up', shape: '■', tone: 'bad' },
}

export function UsageBar({ usage, currency, isContested }: UsageBarProps) {
  const { limit, maximum, used, rule, action, binds } = usage
  const level = levelOf(usage)
  const amounts = `${amountWords(limit, used, null)} of ${amountWords(limit, maximum, currency)}`
  return (
    <li className={classes.row}>
      <div>
        <div>{LIMIT_WORDS[limit]}</div>
        <div className={classes.note}>Rule of {ruleWords(rule)}</div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a meter of the browser has one piece only */}
      <div
        className={classes.bar}
        role="meter"
        aria-label={`${LIMIT_WORDS[limit]}, rule of ${ruleWords(rule)}`}
        aria-valuemin={0}
        aria-valuemax={Math.max(maximum, used)}
        aria-valuenow={used}
        aria-valuetext={`${amounts} used`}
      >
        {sharesOf(usage).map(({ name, percent, look }) =>
          percent === 0 ? null : (
            <div
              key={name}
              className={classes.share}
              data-level={level}
              data-look={look}
              style={{ width: `${percent}%` }}
            />
          ),
        )}
      </div>
      <div>
        <div className={classes.signs}>
          <strong>{amounts}</strong>
          <span className={classes.note}>{percentOf(usage)} %</span>
          {level !== 'calm' && <ToneBadge look={LOOKS[level]} />}
        </div>
        <div className={classes.note}>
          {sourceWords(usage, currency)}
          {binds && isContested && ' · binds first'}
          {level !== 'calm' && ` · above it: ${ACTION_WORDS[action].toLowerCase()}`}
        </div>
      </div>
    </li>
  )
}

type UsageBarProps = {
  usage: QuotaUsage
  currency: string | null
  /** Other rules limit the same, so that it matters which of them binds first. */
  isContested: boolean
}
