/** Says that a test is on its way, with a link to how it goes. */

import { Anchor } from '@mantine/core'
import { appPath } from '../../place.ts'
import { router } from '../../router.tsx'
import { say } from '../../shell/notices.tsx'

/** Messages are outside of the routes, so the link goes by the router itself. */
export function sayTest(deliveryId: string): void {
  const search = { delivery: deliveryId }
  say(
    <>
      A test is on its way.{' '}
      <Anchor
        href={`${appPath}/deliveries?delivery=${encodeURIComponent(deliveryId)}`}
        size="sm"
        underline="always"
        onClick={(event) => {
          event.preventDefault()
          void router.navigate({ to: '/deliveries', search })
        }}
      >
        See how it goes
      </Anchor>
    </>,
  )
}
