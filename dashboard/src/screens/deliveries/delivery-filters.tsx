/** Which deliveries are shown. Everything chosen is in the address. */

import { Button, Group, NativeSelect } from '@mantine/core'
import { FACT_KINDS, kindWords, MAIL_KINDS } from '../../parts/kind-words.ts'
import { OwnerField } from '../../parts/owner-field.tsx'
import type { Address } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import { useMay } from '../../session.tsx'
import { CHANNEL_WORDS, STATE_LOOKS } from './delivery-words.ts'
import type { NamedReceiver } from './use-receivers.ts'

const NAMES = ['state', 'channel', 'kind', 'receiver', 'owner'] as const
const ANY = { value: '', label: 'Any' }
const STATES = [ANY, ...Object.keys(STATE_LOOKS)]
const CHANNELS = [ANY, ...Object.entries(CHANNEL_WORDS).map(([value, label]) => ({ value, label }))]
const KINDS = [ANY, ...[...FACT_KINDS, ...MAIL_KINDS, 'test'].map((value) => ({ value, label: kindWords(value) }))]

type DeliveryFiltersProps = { address: Address; receivers: readonly NamedReceiver[] }

export function DeliveryFilters({ address: { search, change }, receivers }: DeliveryFiltersProps) {
  const seesAll = useMay('operator')
  const select = (name: (typeof NAMES)[number], label: string, data: (string | typeof ANY)[], width?: number) => (
    <NativeSelect
      label={label}
      size="xs"
      w={width}
      value={textIn(search, name) ?? ''}
      data={withChosen(data, textIn(search, name))}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  )
  const named = receivers.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <Group gap="sm" align="flex-end" mb="md">
      {select('state', 'State', STATES)}
      {select('channel', 'Channel', CHANNELS)}
      {select('kind', 'What it tells', KINDS, 200)}
      {select('receiver', 'Receiver', [ANY, ...named], 220)}
      {seesAll && (
        <OwnerField
          label="Owner"
          value={textIn(search, 'owner') ?? ''}
          placeholder="Any"
          known={[]}
          onChange={(owner) => change({ owner })}
        />
      )}
      {NAMES.some((name) => textIn(search, name)) && (
        <Button
          size="xs"
          variant="subtle"
          onClick={() => change(Object.fromEntries(NAMES.map((name) => [name, undefined])))}
        >
          Show all
        </Button>
      )}
    </Group>
  )
}

/** What a link asks for is shown as chosen, also when it is not among what is known. */
function withChosen(data: (string | typeof ANY)[], chosen: string | undefined): (string | typeof ANY)[] {
  if (!chosen || data.some((one) => (typeof one === 'string' ? one : one.value) === chosen)) return data
  return [...data, chosen]
}
