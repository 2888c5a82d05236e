/** The mail addresses: who is told about documents, and about what. */

import type { Recipient } from '@holdfast/client'
import { Button, Group, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { MoreIcon, PlusIcon } from '../../parts/icons.tsx'
import { MAIL_WORDS } from '../../parts/kind-words.ts'
import { Loading } from '../../parts/loading.tsx'
import { Menu, MenuItem } from '../../parts/menu.tsx'
import { Moment } from '../../parts/moment.tsx'
import { MoreButton } from '../../parts/more-button.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { useMore } from '../../parts/use-more.ts'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { say, sayError } from '../../shell/notices.tsx'
import { MailDialog, useMayChange } from './mail-dialog.tsx'
import { failureWords, lookOf, whoseWords } from './receiver-words.ts'
import classes from './receivers.module.css'
import { sayTest } from './say-test.tsx'

export function MailSection() {
  const [isMaking, setMaking] = useState(false)
  const mayWrite = useMay('submitter')
  const more = useMore<Recipient>(['recipients'], (signal) => client.recipients.list({ signal }), { everyMs: 10_000 })
  return (
    <div>
      <Group justify="space-between" mt="xl" mb="xs">
        <Title order={2}>Mail addresses</Title>
        {mayWrite && (
          <Button size="xs" leftSection={<PlusIcon />} onClick={() => setMaking(true)}>
            New mail address
          </Button>
        )}
      </Group>
      {more.error && <ErrorNotice error={more.error} onRetry={more.refetch} />}
      {more.items === undefined && !more.error && <Loading label="Reading mail addresses" />}
      {more.items?.length === 0 && (
        <EmptyState title="No mail addresses yet">
          People who are told by mail about their documents: duplicates, failures, progress, and when a batch is
          finished.
        </EmptyState>
      )}
      {more.items && more.items.length > 0 && <MailTable recipients={more.items} mayWrite={mayWrite} />}
      <MoreButton more={more} what="mail addresses" />
      {isMaking && <MailDialog recipient={null} onClose={() => setMaking(false)} />}
    </div>
  )
}

function MailTable({ recipients, mayWrite }: { recipients: readonly Recipient[]; mayWrite: boolean }) {
  return (
    <TableBox
      label="Mail addresses"
      columns={['State', 'Address', 'Tell it about', 'Whose documents', 'Added', mayWrite && 'Acts']}
    >
      <tbody>
        {recipients.map((recipient) => (
          <MailRow key={recipient.recipient_id} recipient={recipient} mayWrite={mayWrite} />
        ))}
      </tbody>
    </TableBox>
  )
}

function MailRow({ recipient, mayWrite }: { recipient: Recipient; mayWrite: boolean }) {
  return (
    <tr>
      <td className={classes.state}>
        <ToneBadge look={lookOf(recipient)} />
        <Text size="xs" c="dimmed" mt={4}>
          {recipient.disabled_reason ?? failureWords(recipient)}
        </Text>
      </td>
      <td className={classes.address}>
        <div>{recipient.address}</div>
        <Way to="/deliveries" search={{ receiver: recipient.recipient_id }} className={classes.link}>
          Its mails
        </Way>
      </td>
      <td className={classes.kinds}>
        {recipient.kinds.map((kind) => (
          <div key={kind}>{MAIL_WORDS[kind]}</div>
        ))}
      </td>
      <td>{whoseWords(recipient.owner)}</td>
      <td>
        <Moment at={recipient.created_at} />
        <Text size="xs" c="dimmed">
          by {recipient.created_by}
        </Text>
      </td>
      {mayWrite && (
        <td>
          <MailActs recipient={recipient} />
        </td>
      )}
    </tr>
  )
}

function MailActs({ recipient }: { recipient: Recipient }) {
  const { recipient_id: id, address, enabled } = recipient
  const [act, setAct] = useState<'change' | 'delete' | null>(null)
  const mayChange = useMayChange(recipient)
  const test = useMutation({
    mutationFn: () => client.recipients.test(id),
    onSuccess: ({ delivery_id }) => sayTest(delivery_id),
    onError: sayError,
  })
  return (
    <Group gap={4} wrap="nowrap">
      {enabled && (
        <Button size="compact-xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
      )}
      {!enabled && mayChange && (
        <Button size="compact-xs" variant="default" onClick={() => setAct('change')}>
          Add again
        </Button>
      )}
      <Menu label={`More acts on ${address}`} className={classes.menu} trigger={<MoreIcon />}>
        {mayChange && <MenuItem onClick={() => setAct('change')}>Change what it is told</MenuItem>}
        <MenuItem onClick={() => setAct('delete')}>Remove</MenuItem>
      </Menu>
      {act === 'change' && <MailDialog recipient={recipient} onClose={() => setAct(null)} />}
      {act === 'delete' && <RemoveDialog recipient={recipient} onClose={() => setAct(null)} />}
    </Group>
  )
}

function RemoveDialog({ recipient, onClose }: { recipient: Recipient; onClose: () => void }) {
  const queries = useQueryClient()
  const remove = async () => {
    await client.recipients.delete(recipient.recipient_id)
    await queries.invalidateQueries({ queryKey: ['recipients'] })
    await queries.invalidateQueries({ queryKey: ['receivers'] })
    say(`${recipient.address} gets no more mail.`)
  }
  return (
    <ConfirmDialog isOpen title="Remove this mail address?" act="Remove it" onAct={remove} onClose={onClose}>
      <strong>{recipient.address}</strong> gets no more mail. What was sent to it or waits to be sent is deleted from
      the list of deliveries too.
    </ConfirmDialog>
  )
}
