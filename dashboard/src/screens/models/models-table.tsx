/** One row per model, told of in its newest version. */

import type { ModelInfo } from '@holdfast/client'
import { formatNumber } from '../../parts/format.ts'
import { TableBox } from '../../parts/table-box.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { Way } from '../../parts/way.tsx'
import { offeredLook, retryWords, secondsWords } from './model-words.ts'
import classes from './models.module.css'

const COLUMNS = ['Model', 'Workers', 'Queue', 'Runs on', 'Retries', 'Timeout', 'Expected', 'At once']

export function ModelsTable({ models }: { models: ModelInfo[] }) {
  return (
    <TableBox label="Models" columns={COLUMNS}>
      <tbody>
        {models.map((model) => (
          <Row key={model.name} model={model} />
        ))}
      </tbody>
    </TableBox>
  )
}

function Row({ model }: { model: ModelInfo }) {
  const { name, version, versions, description, queue, executor, retry, concurrency } = model
  return (
    <tr>
      <td className={classes.model}>
        <Way to="/models" search={{ model: name }}>
          <b>{name}</b>
        </Way>
        <span className={classes.version}>
          {' '}
          version {version}
          {versions.length > 1 && ` of ${versions.length}`}
        </span>
        {description && <div className={classes.description}>{description}</div>}
      </td>
      <td>
        <ToneBadge look={offeredLook(model.offered, model.live_workers)} />
      </td>
      <td>
        <Way to="/queues" search={{ queue }}>
          {queue}
        </Way>
      </td>
      <td>{executor}</td>
      <td className={classes.retry}>{retryWords(retry)}</td>
      <td className={classes.seconds}>{secondsWords(model.timeout_seconds)}</td>
      <td className={classes.seconds}>{secondsWords(model.expected_seconds)}</td>
      <td>{concurrency === null ? '–' : `${formatNumber(concurrency)} per worker`}</td>
    </tr>
  )
}
