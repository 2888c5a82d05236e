import { expect, test } from 'vitest'
import { assertLoopback } from './loopback.ts'

test.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]'])('%s may be listened on', (host) => {
  expect(() => assertLoopback(host)).not.toThrow()
})

test.each(['0.0.0.0', '::', '', '10.0.0.5', '127.example.com', 'localhost.example.com', '192.168.1.1', '*'])(
  '%j is refused with the cure',
  (host) => {
    expect(() => assertLoopback(host)).toThrow(/Set HOLDFAST_HOST to 127\.0\.0\.1/)
  },
)
