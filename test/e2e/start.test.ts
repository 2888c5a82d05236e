/** What a newcomer does first: start it, copy the line that it prints, and look at the result. As an ordinary user, too. */

import { chown } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunObject } from '../../src/contract/run.ts'
import { runEnds } from '../support/http.ts'
import { openPlace, type Place, processesIn, stopped } from '../support/processes.ts'
import { until } from '../support/until.ts'

const NOBODY = 65534
const isRoot = process.getuid?.() === 0 && process.platform === 'linux'

let place: Place
beforeAll(async () => {
  place = await openPlace({ HOLDFAST_MODELS: '' })
  if (isRoot) await chown(place.folder, NOBODY, NOBODY)
})
afterAll(() => place.close())

it('`holdfast start` prints where it listens and a curl line, whose run ends with a result', async () => {
  const become = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
  const service = place.run(['start'], {}, become)
  const { url } = await service.says('listening', 30_000)
  await until(() => service.text().includes('Ctrl-C'), { what: 'the greeting is printed' })
  expect(service.text()).toContain(`Holdfast listens on ${url}`)

  const [, address, header, body] = /curl -s (\S+) -H '(.+?)' \\\n\s+-d '(.+?)'/.exec(service.text()) ?? []
  const [name, value] = header!.split(': ')
  const response = await fetch(address!, { method: 'POST', headers: { [name!]: value! }, body: body! })
  expect(response.status).toBe(201)
  const { run_id } = (await response.json()) as RunObject
  expect(await runEnds(String(url), run_id)).toMatchObject({ status: 'SUCCEEDED', model: 'baseline_forecast_v1' })
  const result = await (await fetch(`${url}/runs/${run_id}/result`)).json()
  expect(result).toMatchObject({ run_id, inputs: { scenario: 'high_inflation', region: 'AU' } })

  const metrics = await (await fetch(`${url}/metrics`)).text()
  for (const line of ['runs_created_total 1', 'runs_succeeded_total 1', 'outbox_unspread 0'])
    expect(metrics).toContain(line)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  await service.says('relay started')

  expect(await stopped(service)).toEqual([0])
  await until(() => processesIn(place.folder).length === 0, { what: 'nothing is left running' })
})
