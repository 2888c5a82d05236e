/** Where Python is, for tests of the Python file. Python below 3.9 counts as none. */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const PYTHON_FOLDER = fileURLToPath(new URL('../../python', import.meta.url))

/** The program, or why there is none to test with. */
export const python: { command: string; missing: null } | { command: null; missing: string } = find()

function find(): typeof python {
  const command = process.env.PYTHON ?? 'python3'
  const { stdout, error } = spawnSync(command, ['-c', 'import sys; print(sys.version_info[:2] >= (3, 9))'], {
    encoding: 'utf8',
  })
  if (error) return { command: null, missing: `there is no ${command} here` }
  return stdout.trim() === 'True' ? { command, missing: null } : { command: null, missing: `${command} is below 3.9` }
}
