/** Reminds of a bulk operation that was begun here while its window is closed, until its end was seen. */

import { HoldfastError } from '@holdfast/client'
import { ActionIcon } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { CloseIcon } from '../../parts/icons.tsx'
import classes from './bulk.module.css'
import { rememberBulk, useBegunBulk } from './bulk-memory.ts'
import { stateWords } from './bulk-words.ts'
import { useBulk } from './use-bulk.ts'

/** `shownId`: the one whose window is open. */
export function BulkBanner({ shownId }: { shownId: string | null }) {
  const begun = useBegunBulk()
  if (!begun || begun.id === shownId) return null
  return <Banner id={begun.id} count={begun.count} />
}

function Banner({ id, count }: { id: string; count: number | null }) {
  const { data, error } = useBulk(id)
  const isGone = error instanceof HoldfastError && error.status === 404
  useEffect(() => {
    if (isGone) rememberBulk(null)
  }, [isGone])
  if (!data) return null
  return (
    <div className={classes.banner} role="status">
      <span>{stateWords(data, count)}</span>
      <Link to="." search={(search) => ({ ...search, bulk: id })} resetScroll={false}>
        Show
      </Link>
      {data.state !== 'RUNNING' && (
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          ml="auto"
          aria-label="Close this reminder"
          onClick={() => rememberBulk(null)}
        >
          <CloseIcon size={12} />
        </ActionIcon>
      )}
    </div>
  )
}
