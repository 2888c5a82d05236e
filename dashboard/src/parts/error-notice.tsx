/** An error as people should see it: what happened, what to do next, and what to quote when asking for help. */

import { HoldfastError } from '@holdfast/client'
import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core'
import { errorWords } from './error-words.ts'

export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { title, detail, next, code, requestId } = errorWords(error)
  const errors = error instanceof HoldfastError ? (error.problem?.errors ?? []) : []
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Stack gap={6}>
        {detail !== title && <Text size="sm">{detail}</Text>}
        {errors.length > 0 && (
          <List size="sm">
            {errors.map(({ pointer, detail: what }) => (
              <List.Item key={`${pointer} ${what}`}>
                <Code>{pointer || '/'}</Code> {what}
              </List.Item>
            ))}
          </List>
        )}
        {next && (
          <Text size="sm" fw={500}>
            {next}
          </Text>
        )}
        <Group gap="sm">
          {onRetry && (
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          {(code || requestId) && (
            <Text size="xs" c="dimmed">
              {[code, requestId && `request ${requestId}`].filter(Boolean).join(' · ')}
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}
