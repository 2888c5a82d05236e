/** All versions of a model, the newest first, and who offers them. */

import type { ModelInfo } from '@holdfast/client'
import { Moment } from '../../parts/moment.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { Way } from '../../parts/way.tsx'
import { offeredLook } from './model-words.ts'

export function VersionsTable({ model: { name, version: shown, versions } }: { model: ModelInfo }) {
  return (
    <TableBox label="Versions" columns={['Version', 'Workers', 'Registered', 'Runs']}>
      <tbody>
        {versions.map(({ version, offered, live_workers: workers, registered_at: at }) => (
          <tr key={version}>
            <td>
              {version === shown ? (
                <b>{version} (shown)</b>
              ) : (
                <Way to="/models" search={{ model: name, version }}>
                  {version}
                </Way>
              )}
            </td>
            <td>
              <ToneBadge look={offeredLook(offered, workers)} />
            </td>
            <td>
              <Moment at={at} />
            </td>
            <td>
              <Way to="/runs" search={{ model: name, model_version: version }}>
                Its runs
              </Way>
            </td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  )
}
