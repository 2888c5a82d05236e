/** Holds docs/executors/kubernetes.md to the truth: its manifest is well formed, and what it grants is exactly what the executor needs. */

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { kubeApi } from '../../test/support/kube-api.ts'
import { ended } from '../../test/support/lease-service.ts'
import { until } from '../../test/support/until.ts'
import { executorOn, runningPod, submitted } from './fixtures/kubernetes.ts'

const PAGE = readFileSync(new URL('../../docs/executors/kubernetes.md', import.meta.url), 'utf8')
const [manifest = ''] = [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text)

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] }

function documents() {
  return parseAllDocuments(manifest, { strict: true, uniqueKeys: true }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([])
    return document.toJS()
  })
}

/** In the words of the API server in this process. */
function granted(): Set<string> {
  const rules: Rule[] = documents().find(({ kind }) => kind === 'Role').rules
  const pairs = rules.flatMap(({ resources, verbs }) => resources.flatMap((one) => verbs.map((verb) => [verb, one])))
  return new Set(pairs.map(([verb, one]) => (one === 'pods/log' ? 'log pods' : `${verb} ${one}`)))
}

it('the manifest is an account, a role and a binding of one to the other, in one namespace', () => {
  const [account, role, binding] = documents()
  expect([account.kind, role.kind, binding.kind]).toEqual(['ServiceAccount', 'Role', 'RoleBinding'])
  expect(binding.roleRef).toMatchObject({ kind: 'Role', name: role.metadata.name })
  expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', ...account.metadata }])
  expect(new Set([account, role, binding].map(({ metadata }) => metadata.namespace)).size).toBe(1)
  for (const { apiGroups, resources } of role.rules as Rule[]) {
    expect(apiGroups).toEqual(resources.includes('jobs') ? ['batch'] : [''])
  }
})

it('what it grants is enough to run, read, give a second ticket, cancel and clear up', async () => {
  const api = await kubeApi()
  const allowed = granted()
  for (const resource of ['jobs', 'pods', 'secrets']) {
    for (const verb of ['create', 'get', 'list', 'watch', 'update', 'delete', 'log']) {
      if (!allowed.has(`${verb} ${resource}`)) api.forbidden.add(`${verb} ${resource}`)
    }
  }
  api.loseReply('POST', /secrets$/)
  const started = await submitted(api)
  const pod = await runningPod(started)
  pod.print('hello')
  await until(() => started.attempt.output === 'hello\n', { what: 'its log is read' })
  const orphan = await submitted(api, started.executor)
  await runningPod(orphan)
  api.cluster.deleteJob('default', orphan.name, 'Orphan')
  await Promise.all([started, orphan].map(({ executor, handle }) => executor.cancel(handle, 'cancelled')))
  expect(await ended(started.outcome)).toEqual({ status: 'cancelled' })
  await until(() => api.jobs().length + api.pods().length === 0, { what: 'nothing is left' })
  const used = new Set(['create jobs', 'get jobs', 'list jobs', 'watch jobs', 'delete jobs'])
  for (const pair of ['list pods', 'watch pods', 'delete pods', 'log pods', 'create secrets', 'update secrets'])
    used.add(pair)
  expect(allowed).toEqual(used)
  expect(executorOn(api).room()).toBe(5)
})

it('the page names the classes of errors that the executor makes', () => {
  const sources = ['verdict', 'placing'].map((name) =>
    readFileSync(new URL(`./kubernetes-${name}.ts`, import.meta.url), 'utf8'),
  )
  const classes = sources.flatMap((text) => [...text.matchAll(/ownError\('(\w+)'/g)].map(([, name]) => name!))
  expect(classes.length).toBeGreaterThan(5)
  for (const name of new Set([...classes, 'JobRefused', 'SecretRefused']))
    expect(PAGE.includes(`\`${name}\``), name).toBe(true)
})
