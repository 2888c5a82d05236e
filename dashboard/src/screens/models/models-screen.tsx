/** What can be run: all models, or one of them with what it takes. */

import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allModels } from '../../parts/directory-queries.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import { ModelDetail } from './model-detail.tsx'
import { matches } from './model-words.ts'
import { ModelsTable } from './models-table.tsx'

const REFRESH_MS = 15_000

export default function ModelsScreen() {
  const { search } = useAddress()
  const model = textIn(search, 'model')
  return model === undefined ? <Models /> : <ModelDetail name={model} version={textIn(search, 'version')} />
}

function Models() {
  const { search, change } = useAddress()
  const { data: models, error, refetch } = useQuery({ ...allModels, refetchInterval: REFRESH_MS })
  const text = textIn(search, 'text') ?? ''
  const found = models?.filter((model) => matches(model, text))
  return (
    <>
      <PageTitle title="Models" note="Workers bring them; a run names one.">
        <TextInput
          size="xs"
          type="search"
          aria-label="Find a model"
          placeholder="Find a model"
          value={text}
          onChange={(event) => change({ text: event.currentTarget.value })}
        />
      </PageTitle>
      {error && !models && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!models && !error && <Loading label="Reading the models" />}
      {models?.length === 0 && (
        <EmptyState title="There are no models yet">
          A worker registers what it offers when it starts: <code>holdfast worker --models your-models.ts</code>.
        </EmptyState>
      )}
      {models && models.length > 0 && found?.length === 0 && <EmptyState title="No model has these words" />}
      {found && found.length > 0 && <ModelsTable models={found} />}
    </>
  )
}
