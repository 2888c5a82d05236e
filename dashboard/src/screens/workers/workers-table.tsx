/** One row per worker. */

import type { Worker } from '@holdfast/client'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Moment } from '../../parts/moment.tsx'
import { NameList } from '../../parts/name-list.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { UsageBar } from '../../parts/usage-bar.tsx'
import { LOOKS, modelsOf, queuesOf } from './worker-words.ts'
import classes from './workers.module.css'

const COLUMNS = ['State', 'Worker', 'Slots in use', 'Queues', 'Models', 'Version', 'Started', 'Last seen']

export function WorkersTable({ workers }: { workers: Worker[] }) {
  return (
    <TableBox label="Workers" columns={COLUMNS}>
      <tbody>
        {workers.map((worker) => (
          <Row key={worker.worker_id} worker={worker} />
        ))}
      </tbody>
    </TableBox>
  )
}

function Row({ worker }: { worker: Worker }) {
  const {
    worker_id: id,
    state,
    host,
    pid,
    version,
    running,
    concurrency,
    started_at,
    last_seen_at,
    stopped_at,
  } = worker
  return (
    <tr>
      <td>
        <ToneBadge look={LOOKS[state]} />
      </td>
      <td>
        <span className={classes.id}>
          <span>{id}</span> <CopyButton text={id} label="Copy the worker id" />
        </span>
        <div className={classes.place}>
          {host} · process {pid}
        </div>
      </td>
      <td>
        <UsageBar used={running} of={concurrency} label="Slots in use" />
      </td>
      <td>
        <NameList names={queuesOf(worker)} label="queues" />
      </td>
      <td>
        <NameList names={modelsOf(worker)} label="models" />
      </td>
      <td>{version}</td>
      <td className={classes.time}>
        <Moment at={started_at} />
      </td>
      <td className={classes.time}>
        <Moment at={stopped_at ?? last_seen_at} />
      </td>
    </tr>
  )
}
