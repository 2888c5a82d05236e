/** The saved views, each a link, and the way to save the present one. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { ChevronDownIcon } from '../../parts/icons.tsx'
import menu from '../../parts/menu.module.css'
import { Menu, MenuItem, MenuLabel } from '../../parts/menu.tsx'
import type { Condition } from './filter.ts'
import type { Order } from './run-pages.ts'
import { listViews, viewSearch } from './views.ts'
import classes from './views-menu.module.css'

const SaveViewDialog = lazy(() => import('./save-view-dialog.tsx'))
const ManageViewsDialog = lazy(() => import('./manage-views-dialog.tsx'))

export function ViewsMenu({ conditions, order }: { conditions: readonly Condition[]; order: Order }) {
  const { data: views = [] } = useQuery({ queryKey: ['views'], queryFn: listViews, staleTime: 30_000 })
  const [open, setOpen] = useState<'save' | 'manage' | null>(null)
  const trigger = (
    <>
      Views <ChevronDownIcon size={12} />
    </>
  )
  return (
    <>
      <Menu trigger={trigger}>
        {views.length === 0 && <MenuLabel>A view is a filter with a name. None is saved yet.</MenuLabel>}
        {views.map((view) => (
          <Link key={view.view_id} to="/runs" search={viewSearch(view)} className={menu.item}>
            <bdi>{view.name}</bdi>
          </Link>
        ))}
        <hr className={classes.line} />
        <MenuItem onClick={() => setOpen('save')}>Save this view…</MenuItem>
        {views.length > 0 && <MenuItem onClick={() => setOpen('manage')}>Change views…</MenuItem>}
      </Menu>
      <Suspense>
        {open === 'save' && (
          <SaveViewDialog view={null} conditions={conditions} order={order} onClose={() => setOpen(null)} />
        )}
        {open === 'manage' && (
          <ManageViewsDialog views={views} conditions={conditions} order={order} onClose={() => setOpen(null)} />
        )}
      </Suspense>
    </>
  )
}
