/** Below a list that grows on demand: the next of them, or why there is no next. */

import { Button, Group, Text } from '@mantine/core'
import type { More } from './use-more.ts'

export function MoreButton({ more, what }: { more: More<unknown>; what: string }) {
  const { hasMore, isCut, isAtMax, isFetching, isOld, showMore, items } = more
  if (!hasMore) return null
  const found = items?.length ?? 0
  return (
    <Group justify="center" gap="sm" py="sm">
      {isCut && (
        <Text size="sm" c="dimmed">
          Looking took too long and was stopped: there may be more.
        </Text>
      )}
      {isAtMax && !isCut ? (
        <Text size="sm" c="dimmed">
          The first {found} {what} are shown. Narrow the list to see others.
        </Text>
      ) : (
        <Button variant="default" size="xs" loading={isFetching && isOld} onClick={showMore}>
          {isCut ? 'Look further' : 'Show more'}
        </Button>
      )}
    </Group>
  )
}
