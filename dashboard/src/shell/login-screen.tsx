/** Exchanges a token for a cookie that no script can read. The token is not kept anywhere in the page. */

import { Button, Center, Code, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { useSignIn } from '../session.tsx'

export default function LoginScreen() {
  const { start } = useSignIn()
  const [token, setToken] = useState('')
  const { mutate, isPending, error } = useMutation({ mutationFn: () => start(token.trim()) })
  useEffect(() => {
    document.title = 'Sign in · Holdfast'
  }, [])
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w={420} maw="100%">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            mutate()
          }}
        >
          <Stack>
            <div>
              <Title order={1}>Sign in to Holdfast</Title>
              <Text size="sm" c="dimmed">
                With an access token. An administrator makes one with <Code>holdfast token create</Code>.
              </Text>
            </div>
            <PasswordInput
              label="Access token"
              placeholder="hf_…"
              autoComplete="current-password"
              required
              data-autofocus
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
            />
            {error && <ErrorNotice error={error} />}
            <Button type="submit" loading={isPending} disabled={token.trim() === ''}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  )
}
