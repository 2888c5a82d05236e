/** The rows of a tree of JSON, only those in sight. Arrows walk through it and open and close, as in every tree. */

import { type KeyboardEvent, memo, useEffect, useId, useRef } from 'react'
import { useFixedRows } from './fixed-rows.ts'
import classes from './json-view.module.css'
import { type JsonRow, pathKey } from './json-view-tree.ts'
import { JsonValue } from './json-view-value.tsx'

export const ROW_PX = 22
const PAGE_ROWS = 20

export function JsonTreeBox({ label, rows, open, chosenId, matchKeys, onChoose, onTurn }: JsonTreeBoxProps) {
  const box = useRef<HTMLDivElement>(null)
  const treeId = useId()
  const at = Math.max(
    0,
    rows.findIndex(({ id }) => id === chosenId),
  )
  const chosen = rows[at]!
  const { rows: inSight, heightPx, scrollTo } = useFixedRows(box, rows.length, ROW_PX)
  useEffect(() => {
    if (chosenId !== null) scrollTo(at, 'auto')
  }, [chosenId, at, scrollTo])

  const onKeyDown = (event: KeyboardEvent) => {
    const to = keyMove(event.key, rows, at, open)
    if (to === null) return
    event.preventDefault()
    if (to.turn) onTurn(chosen)
    onChoose(rows[to.index] ?? chosen)
  }
  return (
    <div
      ref={box}
      className={classes.box}
      role="tree"
      aria-label={label}
      aria-activedescendant={chosenId === null ? undefined : `${treeId}${at}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onFocus={() => chosenId === null && rows[0] && onChoose(rows[0])}
    >
      <div className={classes.inside} style={{ height: heightPx }} role="presentation">
        {inSight.map(({ index, start }) => {
          const row = rows[index]!
          return (
            <TreeRow
              key={row.id}
              id={`${treeId}${index}`}
              row={row}
              startPx={start}
              isOpen={open.has(row.id)}
              isChosen={row.id === chosenId}
              isMatch={row.group === null && matchKeys.size > 0 && matchKeys.has(pathKey(row.path))}
              onChoose={onChoose}
              onTurn={onTurn}
            />
          )
        })}
      </div>
    </div>
  )
}

type JsonTreeBoxProps = {
  label: string
  rows: JsonRow[]
  open: ReadonlySet<string>
  chosenId: string | null
  /** `pathKey` of what was found. */
  matchKeys: ReadonlySet<string>
  onChoose: (row: JsonRow) => void
  /** Opens what is closed and closes what is open. */
  onTurn: (row: JsonRow) => void
}

type Move = { index: number; turn: boolean }

function keyMove(key: string, rows: JsonRow[], at: number, open: ReadonlySet<string>): Move | null {
  const row = rows[at]!
  const isOpen = open.has(row.id)
  const last = rows.length - 1
  const parent = () => rows.findIndex(({ id }) => id === row.parentId)
  const go = (index: number): Move => ({ index: Math.min(last, Math.max(0, index)), turn: false })
  const turn: Move = { index: at, turn: true }
  if (key === 'ArrowDown') return go(at + 1)
  if (key === 'ArrowUp') return go(at - 1)
  if (key === 'PageDown') return go(at + PAGE_ROWS)
  if (key === 'PageUp') return go(at - PAGE_ROWS)
  if (key === 'Home') return go(0)
  if (key === 'End') return go(last)
  if (key === 'Enter' || key === ' ') return row.size === null ? go(at) : turn
  if (key === 'ArrowRight') return row.size === null ? null : isOpen ? go(at + 1) : turn
  if (key === 'ArrowLeft') return isOpen && row.size !== null ? turn : go(parent() === -1 ? at : parent())
  return null
}

const TreeRow = memo(function TreeRow({ id, row, startPx, isOpen, isChosen, isMatch, onChoose, onTurn }: RowProps) {
  const isBranch = row.size !== null && row.size > 0
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it answers to the keyboard
    <div
      id={id}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={isBranch ? isOpen : undefined}
      aria-selected={isChosen}
      tabIndex={-1}
      className={classes.row}
      data-branch={isBranch || undefined}
      data-match={isMatch || undefined}
      style={{ transform: `translateY(${startPx}px)`, paddingLeft: 8 + row.depth * 16 }}
      onClick={() => {
        onChoose(row)
        if (isBranch) onTurn(row)
      }}
    >
      <span className={classes.sign} aria-hidden>
        {isBranch ? (isOpen ? '▾' : '▸') : ''}
      </span>
      {row.name !== null && <span className={classes.name}>{shownName(row.name)}:</span>}
      <JsonValue row={row} isOpen={isOpen} />
    </div>
  )
})

type RowProps = Pick<JsonTreeBoxProps, 'onChoose' | 'onTurn'> & {
  id: string
  row: JsonRow
  startPx: number
  isOpen: boolean
  isChosen: boolean
  isMatch: boolean
}

function shownName(name: string | number): string {
  if (typeof name === 'number') return String(name)
  return name.length > 200 ? `${name.slice(0, 200)}…` : name || '""'
}
