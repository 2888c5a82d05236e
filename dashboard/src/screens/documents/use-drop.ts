/**
 * Files that are dropped anywhere on the page, or pasted. A file that is dropped beside the box would otherwise be opened by the browser, and
 * the page would be gone.
 */

import { useEffect, useRef, useState } from 'react'
import { sayError } from '../../shell/notices.tsx'
import { filesDropped } from './dropped-files.ts'
import type { Dropped } from './group-drop.ts'

/** Whether files are being held over the page. */
export function useDrop(onFiles: ((dropped: Dropped[]) => void) | null): boolean {
  const [isOver, setOver] = useState(false)
  const latest = useRef(onFiles)
  useEffect(() => {
    latest.current = onFiles
  })
  useEffect(() => {
    let depth = 0
    const hold = (by: number) => {
      depth = Math.max(0, depth + by)
      setOver(depth > 0)
    }
    const take = (transfer: DataTransfer) =>
      void filesDropped(transfer).then((dropped) => latest.current?.(dropped), sayError)
    const listeners = {
      dragenter: (event: DragEvent) => hasFiles(event.dataTransfer) && hold(1),
      dragleave: (event: DragEvent) => hasFiles(event.dataTransfer) && hold(-1),
      dragover: (event: DragEvent) => {
        if (!hasFiles(event.dataTransfer)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = latest.current ? 'copy' : 'none'
      },
      drop: (event: DragEvent) => {
        if (!hasFiles(event.dataTransfer)) return
        event.preventDefault()
        hold(-depth)
        take(event.dataTransfer)
      },
      paste: (event: ClipboardEvent) => {
        if (!event.clipboardData || event.clipboardData.files.length === 0) return
        event.preventDefault()
        take(event.clipboardData)
      },
    }
    const all = Object.entries(listeners) as [string, EventListener][]
    for (const [type, listener] of all) addEventListener(type, listener)
    return () => {
      for (const [type, listener] of all) removeEventListener(type, listener)
    }
  }, [])
  return isOver
}

function hasFiles(transfer: DataTransfer | null): transfer is DataTransfer {
  return transfer?.types.includes('Files') ?? false
}
