/** A file, named by its id: one of the latest uploads, or any id. Files are uploaded in Documents. */

import { Anchor, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../client.ts'
import { formatAgo, formatBytes } from '../../parts/format.ts'
import { errorWithin } from './field-errors.ts'
import { fieldNotes, NullAct } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { useForm } from './form-context.ts'
import classes from './submit.module.css'
import { pointerOf } from './value-path.ts'

const RECENT_MAX = 30

export function FileField(props: ShapedProps<'file'>) {
  const { id, label, path, value, isRequired } = props
  const { set, errors } = useForm()
  const { data: recent = [] } = useQuery({ queryKey: ['files', 'recent'], queryFn: readRecent })
  const known = recent.find(({ file_id }) => file_id === value)
  return (
    <div>
      <TextInput
        id={id}
        label={label}
        size="sm"
        value={typeof value === 'string' ? value : ''}
        withAsterisk={isRequired}
        aria-required={isRequired || undefined}
        description={known ? `${known.name} · ${formatBytes(known.size)}` : fieldNotes(props)}
        error={errorWithin(errors, pointerOf(path))}
        autoComplete="off"
        spellCheck={false}
        classNames={{ input: classes.code }}
        onChange={({ currentTarget: { value: typed } }) =>
          set(path, typed.trim() === '' && !isRequired ? undefined : typed.trim())
        }
      />
      <div className={classes.acts}>
        {recent.length > 0 && (
          <NativeSelect
            size="xs"
            aria-label={`Recent uploads for ${label}`}
            value={known ? known.file_id : ''}
            data={[
              { value: '', label: 'Recent uploads…' },
              ...recent.map((upload) => ({
                value: upload.file_id,
                label: `${upload.name} · ${formatBytes(upload.size)} · ${formatAgo(upload.created_at, Date.now())}`,
              })),
            ]}
            onChange={({ currentTarget }) => currentTarget.value !== '' && set(path, currentTarget.value)}
          />
        )}
        <Anchor size="xs" component={Link} to="/documents">
          Upload in Documents
        </Anchor>
        <NullAct {...props} />
      </div>
    </div>
  )
}

/** Each file once, the newest first. */
async function readRecent({ signal }: { signal: AbortSignal }) {
  const found = new Map<string, { file_id: string; name: string; size: number; created_at: string }>()
  for await (const upload of client.files.list({}, { signal })) {
    if (!found.has(upload.file_id)) found.set(upload.file_id, upload)
    if (found.size >= RECENT_MAX) break
  }
  return [...found.values()]
}
