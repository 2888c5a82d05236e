/** What surrounds every screen: the bar above, the ways at the side, and the screen itself. */

import { ActionIcon, Burger, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { Link, Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { Hint } from '../parts/hint.tsx'
import { MoonIcon, SunIcon } from '../parts/icons.tsx'
import { Menu, MenuItem, MenuLabel, MenuLink } from '../parts/menu.tsx'
import { apiLink } from '../place.ts'
import { useSession, useSignIn } from '../session.tsx'
import { ConnectionSign } from './connection-sign.tsx'
import classes from './frame.module.css'
import { JumpBox } from './jump-box.tsx'
import { Navigation } from './navigation.tsx'
import { sayError } from './notices.tsx'
import { Shortcuts } from './shortcuts.tsx'

export function Frame() {
  // Only on a phone: elsewhere the ways are always there.
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={classes.frame}>
      <button type="button" className="skip-link" onClick={() => document.getElementById('screen')?.focus()}>
        Skip to the screen
      </button>
      <header className={classes.header}>
        <Burger
          opened={isOpen}
          onClick={() => setOpen(!isOpen)}
          className={classes.burger}
          size="sm"
          aria-label="Navigation"
          aria-expanded={isOpen}
        />
        <Link to="/" className={classes.name} aria-label="Holdfast">
          <img src="favicon.svg" alt="" width={22} height={22} />
          <span>Holdfast</span>
        </Link>
        <JumpBox />
        <div className={classes.signs}>
          <ConnectionSign />
          <SchemeSwitch />
          <Person />
        </div>
      </header>
      <nav className={classes.ways} data-open={isOpen || undefined} aria-label="Screens">
        <Navigation onGo={() => setOpen(false)} />
      </nav>
      <main id="screen" tabIndex={-1} className={classes.main}>
        <Outlet />
      </main>
      <Shortcuts />
    </div>
  )
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const other = scheme === 'dark' ? 'light' : 'dark'
  return (
    <Hint text={`Switch to ${other}`}>
      <ActionIcon variant="subtle" color="gray" aria-label={`Switch to ${other}`} onClick={() => setColorScheme(other)}>
        {scheme === 'dark' ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Hint>
  )
}

function Person() {
  const { mode, owner, role, token_name } = useSession()
  const { end } = useSignIn()
  const who = owner ?? 'nobody'
  return (
    <Menu label={`Signed in as ${who}`} className={classes.person} trigger={who.slice(0, 1).toUpperCase()}>
      <MenuLabel>
        {who} · {mode === 'open' ? 'open service' : role}
        {token_name ? ` · ${token_name}` : ''}
      </MenuLabel>
      <MenuLink href={apiLink('/docs/api')}>API reference</MenuLink>
      {mode === 'tokens' && <MenuItem onClick={() => void end().catch(sayError)}>Sign out</MenuItem>}
    </Menu>
  )
}
