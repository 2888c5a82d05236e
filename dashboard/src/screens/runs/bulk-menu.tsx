/** What can be done to everything that the filter matches. */

import type { BulkAction } from '@holdfast/client'
import { ChevronDownIcon } from '../../parts/icons.tsx'
import { Menu, MenuItem, MenuLabel } from '../../parts/menu.tsx'

export function BulkMenu({ onChoose }: { onChoose: (action: BulkAction) => void }) {
  const trigger = (
    <>
      Act on all <ChevronDownIcon size={12} />
    </>
  )
  return (
    <Menu trigger={trigger}>
      <MenuLabel>Every run that matches the filter, not only those in view</MenuLabel>
      <MenuItem onClick={() => onChoose('retry')}>Retry matching runs…</MenuItem>
      <MenuItem onClick={() => onChoose('cancel')}>Cancel matching runs…</MenuItem>
    </Menu>
  )
}
