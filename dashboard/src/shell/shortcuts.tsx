/** Keys that do things, and the list of them that `?` shows. They do nothing while someone types into a field or a dialog is open. */

import { Kbd } from '@mantine/core'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { matched, type Pressed } from './shortcut-keys.ts'
import classes from './shortcuts.module.css'

type Shortcut = { keys: string; label: string; act: () => void }

let shortcuts: Shortcut[] = []
const watchers = new Set<() => void>()

function set(next: Shortcut[]): void {
  shortcuts = next
  for (const watcher of watchers) watcher()
}

/** Offered for as long as the component is shown. */
export function useShortcut(keys: string, label: string, act: () => void): void {
  const latest = useRef(act)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    const shortcut = { keys, label, act: () => latest.current() }
    set([...shortcuts, shortcut])
    return () => set(shortcuts.filter((one) => one !== shortcut))
  }, [keys, label])
}

export function Shortcuts() {
  const [isOpen, setOpen] = useState(false)
  useShortcut('?', 'Show this list', () => setOpen(true))
  useEffect(() => {
    let pressed: Pressed = null
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isDialogOpen()) return
      const found = matched(new Set(shortcuts.map(({ keys }) => keys)), pressed, event.key, event.timeStamp)
      pressed = found.pressed
      if (found.shortcut === null) return
      event.preventDefault()
      // The screen on top comes last and has the first say.
      shortcuts.findLast(({ keys }) => keys === found.shortcut)?.act()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Keyboard shortcuts">
      <ShortcutTable />
    </Dialog>
  )
}

function ShortcutTable() {
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => shortcuts,
  )
  return (
    <table className={classes.table}>
      <tbody>
        {shown.map(({ keys, label }) => (
          <tr key={keys + label}>
            <td>
              {keys.split(' ').map((key) => (
                <Kbd key={key} mr={4}>
                  {key}
                </Kbd>
              ))}
            </td>
            <td>{label}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

function isDialogOpen(): boolean {
  return document.querySelector('dialog[open]') !== null
}
