/** The files of a batch, of which only those in view exist. `?file=` is the one that is open. */

import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useAddress } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import classes from './documents.module.css'
import { FileRow } from './file-row.tsx'
import type { Sender } from './sender.ts'
import type { ShownFile } from './shown-files.ts'

const ROW_PX = 58
const OVERSCAN = 8

export function FileList({ files, sender }: { files: ShownFile[]; sender: Sender | null }) {
  const box = useRef<HTMLUListElement>(null)
  const topPx = useTop(box)
  const { search, change } = useAddress()
  const openKey = textIn(search, 'file')
  const virtualizer = useWindowVirtualizer({
    count: files.length,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => files[index]?.key ?? index,
    overscan: OVERSCAN,
    scrollMargin: topPx,
  })
  useLeadTo(files, openKey, (index) => virtualizer.scrollToIndex(index, { align: 'center' }))
  return (
    <ul ref={box} className={classes.files} style={{ height: virtualizer.getTotalSize() }} aria-label="Files">
      {virtualizer.getVirtualItems().map(({ index, key, start }) => {
        const file = files[index]!
        return (
          <li
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            className={classes.file}
            aria-setsize={files.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - topPx}px)` }}
          >
            <FileRow
              file={file}
              sender={sender}
              isOpen={file.key === openKey}
              onToggle={() => change({ file: file.key === openKey ? undefined : file.key })}
            />
          </li>
        )
      })}
    </ul>
  )
}

/** A link to one file leads to where it is, once. */
function useLeadTo(files: ShownFile[], key: string | undefined, lead: (index: number) => void): void {
  const led = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (key === undefined || led.current === key) return
    const index = files.findIndex((file) => file.key === key)
    if (index < 0) return
    led.current = key
    const row = document.querySelector(`[data-index="${index}"]`)?.getBoundingClientRect()
    if (!row || row.top < 0 || row.bottom > innerHeight) lead(index)
  })
}

/** Where the list begins on the page. */
function useTop(box: RefObject<HTMLElement | null>): number {
  const [topPx, setTopPx] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      if (box.current) setTopPx(Math.round(box.current.getBoundingClientRect().top + scrollY))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [box])
  return topPx
}
