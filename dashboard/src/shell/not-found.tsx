/** An address that leads nowhere. */

import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../parts/empty-state.tsx'
import { PageTitle } from '../parts/page-title.tsx'

export function NotFound() {
  return (
    <>
      <PageTitle title="Nothing here" />
      <EmptyState title="There is no screen at this address.">
        It may have been mistyped.{' '}
        <Anchor component={Link} to="/" underline="always">
          Go to the overview
        </Anchor>
        .
      </EmptyState>
    </>
  )
}
