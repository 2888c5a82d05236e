/** What the list is narrowed to: a row of states, and a chip for every other condition. */

import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { CloseIcon, PlusIcon } from '../../parts/icons.tsx'
import { useShortcut } from '../../shell/shortcuts.tsx'
import { type Condition, canTurn, onlyStatus, searchOf, toggled, withCondition, withoutCondition } from './filter.ts'
import classes from './filter-bar.module.css'
import { NAMES, shownValue, verbOf, wordsOf } from './filter-words.ts'
import type { Order } from './run-pages.ts'

const AddFilter = lazy(() => import('./add-filter.tsx'))

const TABS = [
  { status: null, label: 'All' },
  { status: 'PENDING', label: 'Pending' },
  { status: 'RUNNING', label: 'Running' },
  { status: 'SUCCEEDED', label: 'Succeeded' },
  { status: 'FAILED', label: 'Failed' },
  { status: 'CANCELLED', label: 'Cancelled' },
] as const

type FilterBarProps = { conditions: readonly Condition[]; order: Order; onChange: (wanted: Condition[]) => void }

export function FilterBar({ conditions, order, onChange }: FilterBarProps) {
  const [isAdding, setAdding] = useState(false)
  useShortcut('f', 'Add a filter', () => setAdding(true))
  // The row of states says it already.
  const isTab = TABS.some(({ status }) => status === onlyStatus(conditions))
  const chips = isTab ? conditions.filter(({ name }) => name !== 'status') : conditions
  return (
    <div className={classes.bar}>
      <div className={classes.line}>
        <StatusTabs conditions={conditions} order={order} />
        <Button
          size="compact-xs"
          h={26}
          variant="default"
          leftSection={<PlusIcon size={12} />}
          aria-expanded={isAdding}
          onClick={() => setAdding(!isAdding)}
        >
          Add filter
        </Button>
        <OrderSwitch conditions={conditions} order={order} />
      </div>
      {chips.length > 0 && (
        <div className={classes.line}>
          <ul className={classes.chips} aria-label="Filters">
            {chips.map((condition) => (
              <Chip
                key={`${condition.name} ${condition.isNot} ${condition.value}`}
                condition={condition}
                onToggle={() => onChange(toggled(conditions, condition))}
                onRemove={() => onChange(withoutCondition(conditions, condition))}
              />
            ))}
          </ul>
          <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onChange([])}>
            Clear all
          </Button>
        </div>
      )}
      {isAdding && (
        <Suspense fallback={<div className={classes.adding} />}>
          <AddFilter
            conditions={conditions}
            onAdd={(condition) => onChange(withCondition(conditions, condition))}
            onChange={onChange}
            onClose={() => setAdding(false)}
          />
        </Suspense>
      )}
    </div>
  )
}

function Chip({ condition, onToggle, onRemove }: { condition: Condition; onToggle: () => void; onRemove: () => void }) {
  const { name, isNot } = condition
  const words = (
    <>
      <span className={classes.name}>
        {name === 'overdue' ? 'Run' : NAMES[name]} {verbOf(condition)}
      </span>{' '}
      <bdi className={classes.value}>{shownValue(condition)}</bdi>
    </>
  )
  return (
    <li className={classes.chip} data-not={isNot || undefined}>
      {canTurn(condition) ? (
        <button type="button" className={classes.words} title="Turn to its contrary" onClick={onToggle}>
          {words}
        </button>
      ) : (
        <span className={classes.words}>{words}</span>
      )}
      <button type="button" className={classes.remove} aria-label={`Remove: ${wordsOf(condition)}`} onClick={onRemove}>
        <CloseIcon size={12} />
      </button>
    </li>
  )
}

function StatusTabs({ conditions, order }: { conditions: readonly Condition[]; order: Order }) {
  const open = onlyStatus(conditions)
  const others = conditions.filter(({ name }) => name !== 'status')
  return (
    <nav className={classes.tabs} aria-label="Status">
      {TABS.map(({ status, label }) => {
        const wanted = status === null ? others : [{ name: 'status' as const, isNot: false, value: status }, ...others]
        return (
          <Link
            key={label}
            to="."
            search={{ ...searchOf(wanted), order: orderText(order) }}
            className={classes.tab}
            data-open={open === status || undefined}
            aria-current={open === status ? 'page' : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {label}
          </Link>
        )
      })}
    </nav>
  )
}

function OrderSwitch({ conditions, order }: { conditions: readonly Condition[]; order: Order }) {
  const isNewest = order === 'created_at_desc'
  const other = isNewest ? 'created_at_asc' : 'created_at_desc'
  return (
    <Link
      to="."
      search={{ ...searchOf(conditions), order: orderText(other) }}
      className={classes.order}
      aria-label={`${isNewest ? 'Newest' : 'Oldest'} first; turn round`}
    >
      {isNewest ? 'Newest first ↓' : 'Oldest first ↑'}
    </Link>
  )
}

/** The usual order needs no words. */
function orderText(order: Order): string | undefined {
  return order === 'created_at_asc' ? order : undefined
}
