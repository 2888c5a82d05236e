/** What went wrong with a form: one line when each field says its own, and all of it otherwise. */

import { Text } from '@mantine/core'
import { ErrorNotice } from './error-notice.tsx'
import { isSaidAtFields } from './field-errors.ts'

export function FormError({ error, fields }: { error: unknown; fields: readonly string[] }) {
  if (!error) return null
  if (!isSaidAtFields(error, fields)) return <ErrorNotice error={error} />
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert">
      Nothing was changed: see what is said at the fields.
    </Text>
  )
}
