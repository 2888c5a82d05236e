import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { loadRedactHook } from './load-redact-hook.ts'

test('the hook is the default export of a module, looked for from a folder', async () => {
  const { path: folder, remove } = await tempFolder()
  onTestFinished(remove)
  await writeFile(join(folder, 'hide.mjs'), `export default (path) => path[0] === 'iban'`)
  const hook = await loadRedactHook('./hide.mjs', folder)
  expect([hook(['iban'], 'x'), hook(['name'], 'x')]).toEqual([true, false])
})

test('a module without a function says so', async () => {
  const { path: folder, remove } = await tempFolder()
  onTestFinished(remove)
  await writeFile(join(folder, 'none.mjs'), 'export default 1')
  await expect(loadRedactHook('none.mjs', folder)).rejects.toThrow(/HOLDFAST_REDACT_MODULE.*no function/)
})
