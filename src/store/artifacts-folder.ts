/** The database remembers which artifacts folder its large results are in; the first process to start decides. */

import type pg from 'pg'

const BIND = `INSERT INTO settings (name, value) VALUES ('artifacts_folder', $1) ON CONFLICT DO NOTHING`

export async function bindArtifactsFolder(pool: pg.Pool, identity: string): Promise<string> {
  await pool.query(BIND, [identity])
  const { rows } = await pool.query<{ value: string }>(`SELECT value FROM settings WHERE name = 'artifacts_folder'`)
  return rows[0]!.value
}
