/** A button that opens a short list of acts: the browser's own popover, which closes by itself on Escape or a click elsewhere. */

import { type CSSProperties, type ReactNode, useId, useRef } from 'react'
import classes from './menu.module.css'

export function Menu({ label, className, trigger, children }: MenuProps) {
  const id = useId()
  const anchor = `--menu${id.replaceAll(/[^\w-]/g, '')}`
  const list = useRef<HTMLDivElement>(null)
  return (
    <>
      <button
        type="button"
        className={className ?? classes.button}
        popoverTarget={id}
        aria-label={label}
        style={{ anchorName: anchor } as CSSProperties}
      >
        {trigger}
      </button>
      {/* A click on an act closes the list; the acts themselves answer to the keyboard. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: only closes after the act inside has been done */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on an act is a click too */}
      <div
        ref={list}
        id={id}
        popover="auto"
        className={classes.list}
        style={{ positionAnchor: anchor } as CSSProperties}
        onClick={() => list.current?.hidePopover()}
      >
        {children}
      </div>
    </>
  )
}

type MenuProps = {
  /** Needed when the trigger is only a sign. */
  label?: string
  className?: string
  trigger: ReactNode
  /** `MenuItem`s, and texts. */
  children: ReactNode
}

export function MenuItem({ onClick, isDisabled = false, children }: MenuItemProps) {
  return (
    <button type="button" className={classes.item} onClick={onClick} disabled={isDisabled}>
      {children}
    </button>
  )
}

type MenuItemProps = { onClick: () => void; isDisabled?: boolean; children: ReactNode }

/** A place outside the app's own screens, such as the API reference. */
export function MenuLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a className={classes.item} href={href}>
      {children}
    </a>
  )
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <div className={classes.label}>{children}</div>
}
