/** Access tokens: who has which, making one, ending one. For administrators. */

import type { Token } from '@holdfast/client'
import { Alert, Button, Group } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { PlusIcon } from '../../parts/icons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { MoreButton } from '../../parts/more-button.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { useMore } from '../../parts/use-more.ts'
import { Way } from '../../parts/way.tsx'
import { textIn } from '../../search.ts'
import { useMay, useSession } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'
import { NewTokenDialog } from './new-token-dialog.tsx'
import { revokeWords } from './token-words.ts'
import { TokensTable } from './tokens-table.tsx'

export default function TokensScreen() {
  const mayManage = useMay('admin')
  if (mayManage) return <Tokens />
  return (
    <>
      <PageTitle title="Tokens" />
      <EmptyState title="Tokens are for administrators">Ask one of them when you need a token.</EmptyState>
    </>
  )
}

function Tokens() {
  const only = textIn(useAddress().search, 'token')
  const [isMaking, setMaking] = useState(false)
  const [revoked, setRevoked] = useState<Token | null>(null)
  const more = useMore<Token>(['tokens', only ?? ''], (signal) => tokens(signal, only))
  return (
    <>
      <PageTitle title="Tokens" note="Who may use this service, and for what">
        <Button size="xs" leftSection={<PlusIcon />} onClick={() => setMaking(true)}>
          New token
        </Button>
      </PageTitle>
      {only && (
        <Group gap="sm" mb="sm" fz="sm">
          <span>Only one token is shown.</span>
          <Way to="/tokens">Show all</Way>
        </Group>
      )}
      {more.error && <ErrorNotice error={more.error} onRetry={more.refetch} />}
      {more.items === undefined && !more.error && <Loading label="Reading tokens" />}
      {more.items?.length === 0 && <NoTokens isOne={only !== undefined} />}
      {more.items && more.items.length > 0 && (
        <TokensTable tokens={more.items} isOld={more.isOld} onRevoke={setRevoked} />
      )}
      <MoreButton more={more} what="tokens" />
      {isMaking && <NewTokenDialog onClose={() => setMaking(false)} />}
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(null)} />}
    </>
  )
}

async function* tokens(signal: AbortSignal, only: string | undefined): AsyncGenerator<Token, void, void> {
  for await (const token of client.tokens.list({ signal })) {
    if (only === undefined) yield token
    else if (token.token_id === only) return yield token
  }
}

function NoTokens({ isOne }: { isOne: boolean }) {
  if (isOne) return <EmptyState title="There is no such token" />
  return (
    <EmptyState title="No tokens yet">
      The service is open: everyone on this machine is its administrator. The first token ends that, and lets you put
      the service on a network.
    </EmptyState>
  )
}

function RevokeDialog({ token, onClose }: { token: Token; onClose: () => void }) {
  const queries = useQueryClient()
  const { token_id: ownId } = useSession()
  const isOwn = token.token_id === ownId
  const revoke = async () => {
    await client.tokens.revoke(token.token_id)
    say(`The token “${token.name}” is revoked.`)
    await queries.invalidateQueries({ queryKey: isOwn ? ['session'] : ['tokens'] })
  }
  return (
    <ConfirmDialog
      isOpen
      title={`Revoke the token “${token.name}”?`}
      act="Revoke the token"
      onAct={revoke}
      onClose={onClose}
    >
      {isOwn && (
        <Alert color="red" variant="light" mb="sm" title="⚠ You are signed in with this token">
          Revoking it signs you out at once. Make sure that you have another one.
        </Alert>
      )}
      {revokeWords(token)} It cannot be taken back.
    </ConfirmDialog>
  )
}
