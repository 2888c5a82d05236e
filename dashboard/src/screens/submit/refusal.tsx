/** Why the service did not take the request, and what to do: fields to correct, a key that is used, a quota and who holds it. */

import { HoldfastError, QuotaExceeded } from '@holdfast/client'
import { Alert, Anchor, Button, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { errorWords } from '../../parts/error-words.ts'
import { Way } from '../../parts/way.tsx'
import classes from './submit.module.css'

export type RefusalProps = {
  error: unknown
  /** Leads to the field of a pointer. */
  onGo(pointer: string): void
  onNewKey(): void
  onRetry(): void
}

export function Refusal({ error, onGo, onNewKey, onRetry }: RefusalProps) {
  const problem = error instanceof HoldfastError ? error.problem : null
  if (problem?.code === 'idempotency-key-reused') {
    return <KeyReused runId={typeof problem.run_id === 'string' ? problem.run_id : null} onNewKey={onNewKey} />
  }
  if (error instanceof QuotaExceeded) return <Quota error={error} />
  if (problem?.errors?.length) return <Fields error={error} errors={problem.errors} onGo={onGo} />
  return <ErrorNotice error={error} onRetry={onRetry} />
}

function Fields({ error, errors, onGo }: Pick<RefusalProps, 'error' | 'onGo'> & { errors: Pointed[] }) {
  const { title, next, requestId } = errorWords(error)
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <ul className={classes.errors}>
        {errors.map(({ pointer, detail }) => (
          <li key={`${pointer} ${detail}`}>
            <Anchor component="button" type="button" size="sm" onClick={() => onGo(pointer)}>
              {pointer.replace(/^\/parameters(?=\/)/, '').slice(1) || 'the request'}
            </Anchor>{' '}
            <Text span size="sm">
              {detail}
            </Text>
          </li>
        ))}
      </ul>
      <Text size="xs" c="dimmed" mt={6}>
        {[next, requestId && `request ${requestId}`].filter(Boolean).join(' · ')}
      </Text>
    </Alert>
  )
}

type Pointed = { pointer: string; detail: string }

function KeyReused({ runId, onNewKey }: { runId: string | null; onNewKey: () => void }) {
  return (
    <Alert color="red" variant="light" title="This key belongs to another request" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {runId ? (
            <>
              <Anchor component={Link} to={`/runs/${runId}`} underline="always">
                Run {runId.slice(0, 8)}…
              </Anchor>{' '}
              was made with this idempotency key and other parameters or options.
            </>
          ) : (
            'A run was made with this idempotency key and other parameters or options.'
          )}{' '}
          No run was made now. If you want another run, take a new key; if that run is the one you wanted, there is
          nothing to do.
        </Text>
        <Button size="xs" variant="default" onClick={onNewKey}>
          Take a new key
        </Button>
      </Stack>
    </Alert>
  )
}

function Quota({ error }: { error: QuotaExceeded }) {
  const { title, detail, next } = errorWords(error)
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Stack gap={6}>
        <Text size="sm">{detail}</Text>
        {error.holders.length > 0 && (
          <Text size="sm" component="div">
            It is held by{' '}
            {error.holders.map((holder, index) => (
              <span key={holder}>
                {index > 0 && ', '}
                <Anchor component={Link} to={`/runs/${holder}`} className={classes.code} underline="always">
                  {holder.slice(0, 8)}…
                </Anchor>
              </span>
            ))}
            .
          </Text>
        )}
        <Text size="sm" fw={500}>
          {next}{' '}
          {error.rule && (
            <Way to="/quotas" search={{ owner: error.rule.owner }} className={classes.inText}>
              See the quota
            </Way>
          )}
        </Text>
      </Stack>
    </Alert>
  )
}
