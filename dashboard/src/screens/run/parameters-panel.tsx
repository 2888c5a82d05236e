/** What a run was given. Values of sensitive names come hidden from the service. */

import type { Run } from '@holdfast/client'
import { JsonView } from '../../parts/json-view.tsx'

export default function ParametersPanel({ run }: { run: Run }) {
  return <JsonView value={run.parameters} label="Parameters" fileName={`parameters-${run.run_id}.json`} />
}
