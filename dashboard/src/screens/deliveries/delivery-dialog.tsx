/** One delivery: what it tells, how each try went, the mail if it is one, and sending it again. */

import type { Delivery, DeliveryDetail } from '@holdfast/client'
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { JsonBlock } from '../../parts/json-block.tsx'
import { kindWords } from '../../parts/kind-words.ts'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'
import classes from './deliveries.module.css'
import { Outcome } from './deliveries-table.tsx'
import { DeliveryAttempts } from './delivery-attempts.tsx'
import { DeliveryMail } from './delivery-mail.tsx'
import { CHANNEL_WORDS, isUndelivered, runIdIn, STATE_LOOKS, stateWords } from './delivery-words.ts'

/** While it has not ended something may happen any moment. */
const PENDING_EVERY_MS = 2_000
const ENDED_EVERY_MS = 10_000

type DeliveryDialogProps = { deliveryId: string; names: ReadonlyMap<string, string>; onClose: () => void }

export function DeliveryDialog({ deliveryId, names, onClose }: DeliveryDialogProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ['delivery', deliveryId],
    queryFn: ({ signal }) => client.deliveries.get(deliveryId, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'PENDING' ? PENDING_EVERY_MS : ENDED_EVERY_MS),
  })
  return (
    <Dialog isOpen size="lg" title={data ? `Delivery: ${kindWords(data.kind)}` : 'Delivery'} onClose={onClose}>
      {data && <Detail delivery={data} receiver={names.get(data.receiver_id) ?? null} />}
      {!data && error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading label="Reading the delivery" />}
    </Dialog>
  )
}

function Detail({ delivery, receiver }: { delivery: DeliveryDetail; receiver: string | null }) {
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Group gap="sm">
          <ToneBadge look={STATE_LOOKS[delivery.state]} />
          <Text size="sm">{stateWords(delivery)}</Text>
        </Group>
        <Redeliver delivery={delivery} receiver={receiver} />
      </Group>
      <Facts delivery={delivery} receiver={receiver} />
      {delivery.mail && <DeliveryMail mail={delivery.mail} />}
      <div>
        <Title order={3} mb="xs">
          Tries
        </Title>
        <DeliveryAttempts attempts={delivery.attempts} />
      </div>
      <JsonBlock label="What was told" value={delivery.data} />
    </Stack>
  )
}

function Facts({ delivery, receiver }: { delivery: DeliveryDetail; receiver: string | null }) {
  const runId = runIdIn(delivery.data)
  return (
    <dl className={classes.facts}>
      <dt>To</dt>
      <dd>
        {CHANNEL_WORDS[delivery.channel]}{' '}
        <Way to="/deliveries" search={{ receiver: delivery.receiver_id }}>
          {receiver ?? delivery.receiver_id}
        </Way>
      </dd>
      <dt>Owner</dt>
      <dd>{delivery.owner === '*' ? 'Everyone' : delivery.owner}</dd>
      {runId && (
        <>
          <dt>Run</dt>
          <dd>
            <Way to={`/runs/${runId}`}>{runId}</Way>
          </dd>
        </>
      )}
      <dt>Made</dt>
      <dd>
        <Moment at={delivery.created_at} />
      </dd>
      <dt>How it went</dt>
      <dd>
        <Outcome delivery={delivery} />
        {delivery.state !== 'PENDING' && delivery.state !== 'DELIVERED' && (
          <div>
            Ended <Moment at={delivery.finished_at} />
          </div>
        )}
      </dd>
      <dt>Message id</dt>
      <dd>
        <Group gap={4} wrap="nowrap">
          <span>{delivery.message_id}</span> <CopyButton text={delivery.message_id} label="Copy the message id" />
        </Group>
      </dd>
    </dl>
  )
}

function Redeliver({ delivery, receiver }: { delivery: Delivery; receiver: string | null }) {
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const mayAct = useMay('submitter')
  if (!mayAct || !isUndelivered(delivery)) return null
  const send = async () => {
    await client.deliveries.redeliver(delivery.delivery_id)
    await queries.invalidateQueries({ queryKey: ['delivery', delivery.delivery_id] })
    await queries.invalidateQueries({ queryKey: ['deliveries'] })
    say('It is sent again now.')
  }
  return (
    <>
      <Button size="xs" onClick={() => setAsking(true)}>
        Send again
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title="Send this again?"
        act="Send it again"
        isDestructive={false}
        onAct={send}
        onClose={() => setAsking(false)}
      >
        It goes to {receiver ?? 'its receiver'} at once, under the same message id, with as many tries as a new one. A
        receiver that had it already can tell by the id.
      </ConfirmDialog>
    </>
  )
}
