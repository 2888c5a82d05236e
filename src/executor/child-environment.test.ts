import { expect, test } from 'vitest'
import { childEnvironment } from './child-environment.ts'

test('only allowed names are passed on, and those asked for', () => {
  const source = { PATH: '/bin', LC_CTYPE: 'C', NODE_OPTIONS: '--inspect', AWS_SECRET: 's', GPU: '1', HOME: undefined }
  expect(childEnvironment(source, ['GPU'])).toEqual({ PATH: '/bin', LC_CTYPE: 'C', GPU: '1' })
})

test.each(['DATABASE_URL', 'REDIS_URL', 'HOLDFAST_TOKEN'])('%s is refused even when asked for', (name) => {
  expect(() => childEnvironment({}, [name])).toThrow(name)
})
