import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { curlText } from './curl-text.ts'

/** What a real shell makes of the command, with a curl that tells what it was given. */
function given(command: string): string[] {
  const script = `curl() { for each in "$@"; do printf '%s\\0' "$each"; done; }\n${command}`
  const output = execFileSync('sh', ['-c', script], { env: { HOLDFAST_TOKEN: 'hf_x' }, encoding: 'utf8' })
  return output.split('\0').slice(0, -1)
}

test('it names the address, the kind of content and the token of the shell, not of the page', () => {
  const command = curlText('http://localhost:4600/team', { model: 'm' }, true)
  expect(command).toContain('$HOLDFAST_TOKEN')
  expect(given(command).slice(0, 5)).toEqual([
    'http://localhost:4600/team/runs',
    '-H',
    'Content-Type: application/json',
    '-H',
    'Authorization: Bearer hf_x',
  ])
  expect(curlText('http://localhost', {}, false)).not.toContain('Authorization')
})

test('a shell reads the body as it is', () => {
  const nasty = ["it's", '$(touch x)', '`id`', '"; rm -rf /', '\\', '!!', '\n', "'\\''", '$HOME']
  expect(JSON.parse(given(curlText('http://x', nasty, false)).at(-1)!)).toEqual(nasty)
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      expect(JSON.parse(given(curlText('http://x', body, false)).at(-1)!)).toEqual(JSON.parse(JSON.stringify(body)))
    }),
    { numRuns: 5 },
  )
})
