/**
 * Shows any JSON as text: as a tree that opens where one looks, or as its lines. It can be searched, copied whole or in part, and saved.
 *
 * Values of many megabytes are fine: nothing is made before it is in sight, and what walks through all of it does so in slices.
 */

import { Anchor, Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useCallback, useMemo, useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import { formatNumber } from './format.ts'
import classes from './json-view.module.css'
import { JsonRaw } from './json-view-raw.tsx'
import { useJsonSearch } from './json-view-search.ts'
import { JsonSearchBox } from './json-view-search-box.tsx'
import { type JsonPath, type JsonRow, openRows, openUpTo, pathKey, rootOf, wayTo } from './json-view-tree.ts'
import { JsonTreeBox } from './json-view-tree-box.tsx'
import { pathText } from './json-view-walk.ts'
import { saveFile } from './save-file.ts'

/** What is open at first, and the most that "Expand all" opens. */
const ROWS_AT_FIRST = 60
const ROWS_MAX = 10_000
const WHOLE_LENGTH_MIN = 120
const WHOLE_LENGTH_MAX = 100_000

export function JsonView({ value, label, fileName, href }: JsonViewProps) {
  const [isRaw, setRaw] = useState(false)
  const tree = useTree(value)
  const search = useJsonSearch(value)
  const matchKeys = useMemo(() => new Set(search.matches.map(pathKey)), [search.matches])
  return (
    <div className={classes.view}>
      <div className={classes.bar}>
        {!isRaw && <JsonSearchBox search={search} onGo={tree.goTo} />}
        <div className={classes.acts}>
          {!isRaw && (
            <>
              <Button size="compact-xs" variant="default" onClick={tree.openAll}>
                Expand all
              </Button>
              <Button size="compact-xs" variant="default" onClick={tree.closeAll}>
                Collapse
              </Button>
            </>
          )}
          <Button size="compact-xs" variant="default" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            {isRaw ? 'Tree' : 'Raw'}
          </Button>
          <SaveButton value={value} fileName={fileName} href={href} />
          <CopyButton label="Copy all" text={() => textOf(value)} />
        </div>
      </div>
      {tree.isCut && !isRaw && (
        <div className={classes.note} role="status">
          The outermost {formatNumber(ROWS_MAX)} rows are open. Search for what is further inside, or download it.
        </div>
      )}
      {isRaw ? (
        <JsonRaw value={value} label={label} />
      ) : (
        <>
          <JsonTreeBox
            label={label}
            rows={tree.rows}
            open={tree.open}
            chosenId={tree.chosen?.id ?? null}
            matchKeys={matchKeys}
            onChoose={tree.choose}
            onTurn={tree.turn}
          />
          {tree.chosen && <Chosen row={tree.chosen} />}
        </>
      )}
    </div>
  )
}

export type JsonViewProps = {
  value: unknown
  /** What it is, such as "Result". */
  label: string
  /** Under which it is saved. */
  fileName: string
  /** Where the API has it, as `apiLink` says; without it what is saved is written from the value. */
  href?: string | undefined
}

function useTree(value: unknown) {
  const root = useMemo(() => rootOf(value), [value])
  const [state, setState] = useState(() => ({ root, ...openUpTo(root, ROWS_AT_FIRST), isCut: false }))
  const [chosen, setChosen] = useState<JsonRow | null>(null)
  // A new value begins anew.
  if (state.root !== root) {
    setState({ root, ...openUpTo(root, ROWS_AT_FIRST), isCut: false })
    setChosen(null)
  }
  const { open, isCut } = state
  const rows = useMemo(() => openRows(root, open), [root, open])
  const set = useCallback((next: Set<string>, cut = false) => {
    setState((before) => ({ ...before, open: next, isCut: cut }))
  }, [])
  const turn = useCallback(({ id }: JsonRow) => {
    setState((before) => {
      const next = new Set(before.open)
      if (!next.delete(id)) next.add(id)
      return { ...before, open: next, isCut: false }
    })
  }, [])
  return {
    rows,
    open,
    isCut,
    chosen,
    choose: setChosen,
    turn,
    openAll() {
      const all = openUpTo(root, ROWS_MAX)
      set(all.open, !all.isAll)
    },
    closeAll: () => set(new Set([root.id])),
    goTo(path: JsonPath) {
      const way = wayTo(root, path)
      const next = new Set([...open, ...way.open])
      set(next)
      setChosen(openRows(root, next).find(({ id }) => id === way.id) ?? null)
    },
  }
}

/** What the chosen row is, and its value and path to take along. A long text is shown whole. */
function Chosen({ row }: { row: JsonRow }) {
  const { value, path } = row
  const where = pathText(path)
  const isLong = typeof value === 'string' && value.length > WHOLE_LENGTH_MIN
  return (
    <>
      {isLong && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <pre className={classes.whole} tabIndex={0}>
          {value.slice(0, WHOLE_LENGTH_MAX)}
          {value.length > WHOLE_LENGTH_MAX && `… the first ${formatNumber(WHOLE_LENGTH_MAX)} characters`}
        </pre>
      )}
      <div className={classes.chosen}>
        <span className={classes.path} title={where}>
          {where}
        </span>
        <CopyWords words="Copy path" text={() => where} />
        <CopyWords words="Copy value" text={() => (typeof value === 'string' ? value : textOf(value))} />
      </div>
    </>
  )
}

function CopyWords({ words, text }: { words: string; text: () => string }) {
  const { copied, copy } = useClipboard({ timeout: 1_500 })
  return (
    <Button size="compact-xs" variant="default" onClick={() => copy(text())}>
      {copied ? 'Copied' : words}
    </Button>
  )
}

function SaveButton({ value, fileName, href }: Pick<JsonViewProps, 'value' | 'fileName' | 'href'>) {
  if (href !== undefined) {
    return (
      <Anchor href={href} download={fileName} size="xs" px={6}>
        Download
      </Anchor>
    )
  }
  const save = () => saveFile(fileName, [textOf(value)], 'application/json')
  return (
    <Button size="compact-xs" variant="default" onClick={save}>
      Download
    </Button>
  )
}

function textOf(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'null'
}
