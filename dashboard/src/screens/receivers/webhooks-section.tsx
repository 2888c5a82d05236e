/** The webhooks: where they go, what they hear of, how they fare, and the acts on them. */

import type { Webhook } from '@holdfast/client'
import { Button, Group, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { client } from '../../client.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { PlusIcon } from '../../parts/icons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { MoreButton } from '../../parts/more-button.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { useMore } from '../../parts/use-more.ts'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { failureWords, lookOf, whoseWords } from './receiver-words.ts'
import classes from './receivers.module.css'
import { WebhookActs } from './webhook-acts.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'

export function WebhooksSection() {
  const [isMaking, setMaking] = useState(false)
  const mayWrite = useMay('submitter')
  const more = useMore<Webhook>(['webhooks'], (signal) => client.webhooks.list({ signal }), { everyMs: 10_000 })
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Title order={2}>Webhooks</Title>
        {mayWrite && (
          <Button size="xs" leftSection={<PlusIcon />} onClick={() => setMaking(true)}>
            New webhook
          </Button>
        )}
      </Group>
      {more.error && <ErrorNotice error={more.error} onRetry={more.refetch} />}
      {more.items === undefined && !more.error && <Loading label="Reading webhooks" />}
      {more.items?.length === 0 && (
        <EmptyState title="No webhooks yet">
          A webhook tells another program when something happens here, such as when a run succeeds or fails: a message
          to its address for each of the events you choose.
        </EmptyState>
      )}
      {more.items && more.items.length > 0 && <WebhookTable webhooks={more.items} />}
      <MoreButton more={more} what="webhooks" />
      {isMaking && <WebhookDialog webhook={null} onClose={() => setMaking(false)} />}
    </div>
  )
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  const mayWrite = useMay('submitter')
  return (
    <TableBox label="Webhooks" columns={['State', 'Address', 'Tell it when', 'Whose runs', 'Made', mayWrite && 'Acts']}>
      <tbody>
        {webhooks.map((webhook) => (
          <WebhookRow key={webhook.webhook_id} webhook={webhook} mayWrite={mayWrite} />
        ))}
      </tbody>
    </TableBox>
  )
}

function WebhookRow({ webhook, mayWrite }: { webhook: Webhook; mayWrite: boolean }) {
  const { webhook_id: id, old_secret_until: oldUntil } = webhook
  return (
    <tr>
      <td className={classes.state}>
        <ToneBadge look={lookOf(webhook)} />
        <Text size="xs" c="dimmed" mt={4}>
          {webhook.disabled_reason ?? failureWords(webhook)}
        </Text>
      </td>
      <td className={classes.address}>
        <div>{webhook.url}</div>
        {webhook.description && (
          <Text size="xs" c="dimmed">
            {webhook.description}
          </Text>
        )}
        {oldUntil && (
          <Text size="xs" c="dimmed">
            The old secret signs too: it ends <Moment at={oldUntil} />
          </Text>
        )}
        <Way to="/deliveries" search={{ receiver: id }} className={classes.link}>
          Its deliveries
        </Way>
      </td>
      <td className={classes.kinds}>{webhook.events.join(', ')}</td>
      <td>{whoseWords(webhook.owner)}</td>
      <td>
        <Moment at={webhook.created_at} />
        <Text size="xs" c="dimmed">
          by {webhook.created_by}
        </Text>
      </td>
      {mayWrite && (
        <td>
          <WebhookActs webhook={webhook} />
        </td>
      )}
    </tr>
  )
}
