/** Before the first run: how to make one, with a line that works here as it stands. */

import { Anchor, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CopyButton } from '../../parts/copy-button.tsx'
import { allModels } from '../../parts/directory-queries.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { apiLink, apiUrl } from '../../place.ts'
import { useMay, useSession } from '../../session.tsx'
import { curlLine, modelToTry } from './first-run.ts'
import classes from './overview.module.css'

export function FirstUse() {
  const maySubmit = useMay('submitter')
  const isOperator = useMay('operator')
  return (
    <>
      <PageTitle title="Overview" />
      <Paper withBorder p="lg" maw={760}>
        <Stack gap="sm">
          <Text fw={600}>{isOperator ? 'Ready for the first run' : 'You have no runs yet'}</Text>
          {maySubmit ? (
            <HowToSubmit />
          ) : (
            <Text size="sm">As soon as a run is made for you, it shows up here by itself.</Text>
          )}
        </Stack>
      </Paper>
    </>
  )
}

function HowToSubmit() {
  const { mode } = useSession()
  const { data: models = [] } = useQuery(allModels)
  const model = modelToTry(models)
  const line = model && curlLine(apiUrl, model, mode === 'tokens')
  return (
    <>
      <Text size="sm">Holdfast runs what you submit and keeps the record. There are three ways to begin:</Text>
      <Group gap="xs">
        <Button component={Link} to="/submit">
          Submit a run
        </Button>
        <Button component={Link} to="/documents" variant="default">
          Upload documents
        </Button>
      </Group>
      {line ? (
        <>
          <Group gap={6}>
            <Text size="sm">Or from a shell:</Text>
            <CopyButton text={line} label="Copy the line" />
          </Group>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
          <pre className={classes.curl} tabIndex={0}>
            {line}
          </pre>
        </>
      ) : (
        <Text size="sm">
          Or from a program: the <Anchor href={apiLink('/docs/api')}>API reference</Anchor> says how. There is no model
          without files yet; workers bring them.
        </Text>
      )}
      <Text size="xs" c="dimmed">
        The run appears here by itself.
      </Text>
    </>
  )
}
