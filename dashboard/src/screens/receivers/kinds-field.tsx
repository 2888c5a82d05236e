/** What a receiver wants to hear of: one box for each kind, and all or none of them at once. */

import { Button, Checkbox, Group, SimpleGrid, Stack, Text } from '@mantine/core'

export function KindsField<Kind extends string>(props: KindsFieldProps<Kind>) {
  const { label, words, chosen, error, onChange } = props
  const kinds = Object.keys(words) as Kind[]
  return (
    <Checkbox.Group
      label={label}
      error={error}
      value={[...chosen]}
      onChange={(value) => onChange(kinds.filter((kind) => value.includes(kind)))}
    >
      <Stack gap={6} my={6}>
        <Group gap={6}>
          <Button size="compact-xs" variant="default" onClick={() => onChange(kinds)}>
            All
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => onChange([])}>
            None
          </Button>
        </Group>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" verticalSpacing={6}>
          {kinds.map((kind) => (
            <Checkbox key={kind} size="xs" value={kind} label={<KindLabel kind={kind} words={words[kind]} />} />
          ))}
        </SimpleGrid>
      </Stack>
    </Checkbox.Group>
  )
}

type KindsFieldProps<Kind extends string> = {
  label: string
  words: Record<Kind, string>
  chosen: readonly Kind[]
  error: string | undefined
  onChange: (chosen: Kind[]) => void
}

function KindLabel({ kind, words }: { kind: string; words: string }) {
  return (
    <>
      {words}
      <Text span size="xs" c="dimmed" display="block">
        {kind}
      </Text>
    </>
  )
}
