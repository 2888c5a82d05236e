/** Which files are shown: all, or those with one word; and a search by name. Both are in the address. */

import { Group, TextInput, UnstyledButton } from '@mantine/core'
import { formatNumber } from '../../parts/format.ts'
import { SearchIcon } from '../../parts/icons.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import classes from './documents.module.css'
import { CHIP_LABELS } from './file-words.ts'
import { type Counts, WORDS } from './shown-files.ts'

export function FileChips({ counts }: { counts: Counts }) {
  const { search, change } = useAddress()
  const chosen = textIn(search, 'state')
  const choose = (state: string | undefined) => change({ state, file: undefined })
  return (
    <Group justify="space-between" gap="sm">
      <fieldset className={classes.chips}>
        <legend className={classes.legend}>Show</legend>
        <Chip label="All" count={counts.all} isChosen={!chosen} onChoose={() => choose(undefined)} />
        {WORDS.filter((word) => counts[word] > 0 || word === chosen).map((word) => (
          <Chip
            key={word}
            label={CHIP_LABELS[word]}
            count={counts[word]}
            isChosen={word === chosen}
            onChoose={() => choose(word === chosen ? undefined : word)}
          />
        ))}
      </fieldset>
      <TextInput
        size="xs"
        className={classes.search}
        aria-label="Search by name"
        placeholder="Search by name"
        leftSection={<SearchIcon size={14} />}
        value={textIn(search, 'q') ?? ''}
        onChange={({ currentTarget }) => change({ q: currentTarget.value })}
      />
    </Group>
  )
}

type ChipProps = { label: string; count: number; isChosen: boolean; onChoose: () => void }

function Chip({ label, count, isChosen, onChoose }: ChipProps) {
  return (
    <UnstyledButton className={classes.chip} aria-pressed={isChosen} onClick={onChoose}>
      {label} <span className={classes.chipCount}>{formatNumber(count)}</span>
    </UnstyledButton>
  )
}
