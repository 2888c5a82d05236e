/**
 * A window in front of the page: the browser's own, which keeps the focus inside, closes on Escape and hides the page from screen readers.
 *
 * What is laid over the page by a part inside it (the list of a Select) must stay within: `comboboxProps={{ withinPortal: false }}`.
 */

import { ActionIcon, Title } from '@mantine/core'
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import classes from './dialog.module.css'
import { CloseIcon } from './icons.tsx'

export function Dialog({ isOpen, title, onClose, size = 'md', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const opener = useRef<Element | null>(null)
  const [isShown, setShown] = useState(false)
  const titleId = useId()
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) {
      opener.current = document.activeElement
      dialog.current?.showModal()
    }
    if (!isOpen && dialog.current?.open) dialog.current.close()
    // What is inside comes after it is open: in a closed one nothing can get the focus.
    setShown(isOpen)
  }, [isOpen])
  useEffect(() => {
    const node = dialog.current
    // One that is taken away while it is open does not give the focus back by itself.
    return () => {
      if (node?.open && !node.isConnected && opener.current instanceof HTMLElement) opener.current.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className={classes.dialog}
      data-size={size}
      aria-labelledby={titleId}
      onClose={onClose}
      onPointerDown={(event) => event.target === dialog.current && dialog.current.close()}
    >
      {isOpen && isShown && (
        <div className={classes.inside}>
          <div className={classes.head}>
            <Title order={2} id={titleId}>
              {title}
            </Title>
            <ActionIcon variant="subtle" color="gray" aria-label="Close" onClick={() => dialog.current?.close()}>
              <CloseIcon />
            </ActionIcon>
          </div>
          {children}
        </div>
      )}
    </dialog>
  )
}

type DialogProps = {
  isOpen: boolean
  title: string
  onClose: () => void
  size?: 'md' | 'lg'
  /** Made only while it is open. `autoFocus` on one of its fields gets the focus. */
  children: ReactNode
}
