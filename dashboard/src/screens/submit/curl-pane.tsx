/** The same request for a shell: to put into a script, or to send to someone. */

import { Group, Text } from '@mantine/core'
import { CopyButton } from '../../parts/copy-button.tsx'
import { apiUrl } from '../../place.ts'
import { useSession } from '../../session.tsx'
import { curlText } from './curl-text.ts'
import { type Request, requestBody } from './run-options.ts'
import { hasSecrets, hideSecrets } from './secrets.ts'
import classes from './submit.module.css'
import type { JsonObject } from './value-path.ts'

export function CurlPane({ request, areSecretsShown }: { request: Request; areSecretsShown: boolean }) {
  const { mode } = useSession()
  const isHiding = !areSecretsShown && hasSecrets(request.parameters)
  const parameters = isHiding ? (hideSecrets(request.parameters) as JsonObject) : request.parameters
  const command = curlText(apiUrl, requestBody({ ...request, parameters }), mode === 'tokens')
  return (
    <details className={classes.more}>
      <summary>The same with curl</summary>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Text size="xs" c="dimmed">
          {mode === 'tokens' && 'The shell takes the token from HOLDFAST_TOKEN. '}
          {isHiding
            ? 'Secrets are dots here; show them before you copy.'
            : 'With the same key it makes the same run, not a second one.'}
        </Text>
        <CopyButton text={command} label="Copy the command" />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <pre className={classes.command} tabIndex={0}>
        {command}
      </pre>
    </details>
  )
}
