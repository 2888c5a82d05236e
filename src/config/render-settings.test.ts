import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { renderConfigPage, renderEnvExample } from './render-settings.ts'

describe('the written settings', () => {
  it.each([
    ['docs/config.md', renderConfigPage],
    ['.env.example', renderEnvExample],
  ])('%s says what the table says (UPDATE_GOLDEN=1 writes it)', async (path, render) => {
    const file = new URL(`../../${path}`, import.meta.url)
    if (process.env.UPDATE_GOLDEN) await writeFile(file, render())
    expect(await readFile(file, 'utf8')).toBe(render())
  })
})
