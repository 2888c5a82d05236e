import { expect, it } from 'vitest'
import { greeting } from './greeting.ts'

const here = { url: 'http://127.0.0.1:4600', workerPids: [7] }

it('offers the example model only when a worker has it', () => {
  expect(greeting({ ...here, examplesOffered: true })).toContain('"baseline_forecast_v1"')
  expect(greeting({ ...here, examplesOffered: false })).not.toContain('baseline_forecast_v1')
})

it('quotes the address with a question mark, which some shells would expand', () => {
  expect(greeting({ ...here, examplesOffered: true })).toContain(`curl -s '${here.url}/runs?status=SUCCEEDED'`)
})

it('shows a token when one is needed', () => {
  expect(greeting({ ...here, examplesOffered: true })).not.toContain('Bearer')
  const lines = greeting({ ...here, examplesOffered: true, asksForToken: true }).split('\n')
  expect(lines.filter((line) => line.includes('-H "authorization: Bearer $HOLDFAST_TOKEN"'))).toHaveLength(2)
})

it('says where the dashboard is', () => {
  expect(greeting({ ...here, examplesOffered: true })).toContain(`${here.url}/ui/`)
})

it('says when no worker runs', () => {
  expect(greeting({ ...here, workerPids: [], examplesOffered: false })).toContain('(no workers)')
})
