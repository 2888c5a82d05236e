/** The tokens, newest first, ended ones too: they are never deleted. */

import type { Token } from '@holdfast/client'
import { Button, Text } from '@mantine/core'
import { Moment } from '../../parts/moment.tsx'
import { useNowMs } from '../../parts/now.ts'
import { TableBox } from '../../parts/table-box.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { useSession } from '../../session.tsx'
import { tokenLook } from './token-words.ts'

type TokensTableProps = { tokens: readonly Token[]; isOld: boolean; onRevoke: (token: Token) => void }

export function TokensTable({ tokens, isOld, onRevoke }: TokensTableProps) {
  return (
    <TableBox
      label="Tokens"
      isOld={isOld}
      columns={['State', 'Name', 'Role', 'Owner', 'Made', 'Last used', 'Ends', 'Acts']}
    >
      <tbody>
        {tokens.map((token) => (
          <TokenRow key={token.token_id} token={token} onRevoke={() => onRevoke(token)} />
        ))}
      </tbody>
    </TableBox>
  )
}

function TokenRow({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  const { token_id: ownId } = useSession()
  const look = tokenLook(token, useNowMs())
  const hasEnded = look.word === 'REVOKED' || look.word === 'EXPIRED'
  return (
    <tr>
      <td>
        <ToneBadge look={look} />
      </td>
      <td style={{ overflowWrap: 'anywhere', minWidth: 140 }}>
        {token.name}
        {token.token_id === ownId && (
          <Text size="xs" c="dimmed">
            You are signed in with it
          </Text>
        )}
      </td>
      <td>
        {token.role}
        {token.queues && (
          <Text size="xs" c="dimmed">
            only {token.queues.join(', ')}
          </Text>
        )}
      </td>
      <td style={{ overflowWrap: 'anywhere' }}>{token.owner}</td>
      <td>
        <Moment at={token.created_at} />
        <Text size="xs" c="dimmed">
          by {token.created_by}
        </Text>
      </td>
      <td>{token.last_used_at === null ? 'Never' : <Moment at={token.last_used_at} />}</td>
      <td>
        {token.revoked_at !== null && (
          <>
            revoked <Moment at={token.revoked_at} />
          </>
        )}
        {token.revoked_at === null && (token.expires_at === null ? 'Never' : <Moment at={token.expires_at} />)}
      </td>
      <td>
        {!hasEnded && (
          <Button size="compact-xs" variant="default" onClick={onRevoke} aria-label={`Revoke ${token.name}`}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  )
}
