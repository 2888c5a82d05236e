/**
 * Builds the dashboard when it is missing or old, as `npm start` does. With HOLDFAST_DASHBOARD_DIR set, that folder
 * is taken as it is.
 */

import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { mustBuild } from '../../../src/cli/dashboard-age.ts'

const DASHBOARD = resolve(import.meta.dirname, '../..')

/** The folder that the service is told to serve. */
export const dashboardFolder = resolve(process.env.HOLDFAST_DASHBOARD_DIR ?? join(DASHBOARD, 'dist'))

export default async function buildFirst(): Promise<void> {
  if (process.env.HOLDFAST_DASHBOARD_DIR || !(await mustBuild(DASHBOARD))) return
  const built = spawnSync(process.execPath, [join(DASHBOARD, 'build.ts')], { encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`the dashboard could not be built:\n${built.stdout}${built.stderr}`)
}
