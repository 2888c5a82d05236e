/** The files a run was given, those its attempts left, and the places its result names. */

import type { Place, Run, RunFile } from '@holdfast/client'
import { Anchor, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatBytes } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { apiLink } from '../../place.ts'
import classes from './run.module.css'
import { useArtifacts, usePlaces } from './run-data.ts'

const ROWS_MAX = 300

export function FilesPanel({ run }: { run: Run }) {
  const { data: artifacts, error, refetch } = useArtifacts(run.run_id)
  const { data: places = [] } = usePlaces(run)
  const files = run.files ?? []
  if (error && !artifacts) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (!artifacts) return <Loading label="Loading the files" />
  if (files.length + artifacts.length + places.length === 0) {
    return (
      <EmptyState title="There are no files.">
        Files among the parameters, files that attempts leave, and places in the result are shown here.
      </EmptyState>
    )
  }
  return (
    <>
      {files.length > 0 && <GivenFiles files={files} />}
      {artifacts.length > 0 && (
        <FileTable
          title="Left by the attempts"
          names={['Name', 'Attempt', 'Size']}
          rows={artifacts.map(({ name, attempt, bytes, href }) => [
            <Anchor key="name" href={apiLink(href)} download size="sm">
              {name}
            </Anchor>,
            attempt,
            formatBytes(bytes),
          ])}
        />
      )}
      {places.length > 0 && <Places places={places} />}
    </>
  )
}

function GivenFiles({ files }: { files: RunFile[] }) {
  const rows = files.map(({ parameter, file_id, name, size, type }) => [
    <Anchor key="name" href={apiLink(`/files/${encodeURIComponent(file_id)}`)} download size="sm">
      {name}
    </Anchor>,
    <span key="parameter" className={classes.mono}>
      {parameter}
    </span>,
    type,
    formatBytes(size),
  ])
  return <FileTable title="Given as parameters" names={['Name', 'Parameter', 'Type', 'Size']} rows={rows} />
}

function Places({ places }: { places: Place[] }) {
  const rows = places.map(({ label, latitude, longitude }) => [label ?? '–', latitude, longitude])
  return <FileTable title="Places in the result" names={['Label', 'Latitude', 'Longitude']} rows={rows} />
}

function FileTable({ title, names, rows }: { title: string; names: string[]; rows: ReactNode[][] }) {
  return (
    <>
      <Title order={2} className={classes.section}>
        {title}
      </Title>
      <TableBox label={title} columns={names}>
        <tbody>
          {rows.slice(0, ROWS_MAX).map((cells, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows never change their order
            <tr key={index}>
              {cells.map((cell, column) => (
                <td key={names[column]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </TableBox>
      {rows.length > ROWS_MAX && (
        <p className={classes.dim}>
          The first {ROWS_MAX} of {rows.length}; the API lists all of them.
        </p>
      )}
    </>
  )
}
