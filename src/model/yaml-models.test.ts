import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { loadModels } from './load-models.ts'
import { readYamlModels, yamlModelsOf, yamlProblemLines } from './yaml-models.ts'

const temporary = await tempFolder()
afterAll(() => temporary.remove())
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(temporary.path, 'case-'))
})

const read = (text: string, from = '/') => yamlModelsOf(new TextEncoder().encode(text), from)
const modelOf = (lines: string) =>
  read(
    `models:\n  - name: price\n    parameters: {type: object, properties: {seed: {}}}\n${lines.replace(/^/gm, '    ')}\n`,
  )

const FULL = `
models:
  - name: price
    version: "1.10"
    description: The price of an option.
    parameters:
      type: object
      required: [seed]
      additionalProperties: false
      properties:
        seed: {type: integer, minimum: 0}
        paths: {type: integer, default: 1000}
        note: {type: string}
    executor: command
    executors: [command, ray, kubernetes]
    command: [python3, model.py]
    python: model:price
    folder: code
    environment: {MODE: "1"}
    secrets: {API_KEY: secrets/key.txt, OTHER: /run/secrets/other}
    stdin: false
    result: last-line
    fatal_exit_codes: [64, 65]
    outputs: ["*.csv"]
    resources: {memory_mb: 512, cpus: 2, gpus: 1}
    queue: risk
    priority: -5
    retry: {max_attempts: 5, backoff: exponential, base_delay_seconds: 1, no_retry_on: [ValueError]}
    timeout_seconds: 600
    expected_seconds: 60
    concurrency: 3
    ignore_in_hash: [note]
    volatile: [metrics.seconds]
    facets: {currency: quote.currency}
    places: offices
    ray: {cluster: main, runtime_env: {pip: [numpy]}, cpus: 4, resources: {special: 1}}
    kubernetes:
      image: example.org/price:1
      namespace: runs
      requests: {cpu: 500m}
      labels: {team: risk}
      service_account: runner
      queue_name: small
`

test('every key of a declaration reaches the definition', () => {
  mkdirSync(join(folder, 'code'))
  const { models, problems } = read(FULL, folder)
  expect(problems).toEqual([])
  expect(models).toEqual([
    {
      name: 'price',
      version: '1.10',
      description: 'The price of an option.',
      parametersSchema: expect.objectContaining({ required: ['seed'] }),
      ignoreInHash: ['note'],
      volatile: ['metrics.seconds'],
      facets: { currency: 'quote.currency' },
      places: 'offices',
      queue: 'risk',
      priority: -5,
      executor: 'command',
      executors: ['command', 'ray', 'kubernetes'],
      retry: { maxAttempts: 5, backoff: 'exponential', baseDelaySeconds: 1, noRetryOn: ['ValueError'] },
      timeoutSeconds: 600,
      expectedSeconds: 60,
      concurrency: 3,
      command: {
        argv: ['python3', 'model.py'],
        folder: join(folder, 'code'),
        env: { MODE: '1' },
        secrets: { API_KEY: join(folder, 'secrets/key.txt'), OTHER: '/run/secrets/other' },
        result: 'last-line',
        fatalExitCodes: [64, 65],
        memoryMb: 512,
        stdin: false,
        outputs: ['*.csv'],
      },
      python: { callable: 'model:price', folder: join(folder, 'code') },
      ray: {
        cluster: 'main',
        runtimeEnv: { pip: ['numpy'] },
        cpus: 4,
        gpus: 1,
        memoryBytes: 512 * 1024 * 1024,
        resources: { special: 1 },
      },
      kubernetes: {
        image: 'example.org/price:1',
        namespace: 'runs',
        resources: {
          requests: { cpu: '500m', memory: '512Mi' },
          limits: { memory: '512Mi', 'nvidia.com/gpu': '1' },
        },
        labels: { team: 'risk' },
        serviceAccount: 'runner',
        queueName: 'small',
      },
    },
  ])
})

test('a command is enough: the rest has its defaults, and the folder is that of the file', () => {
  expect(modelOf('command: [python3, model.py]').models).toEqual([
    {
      name: 'price',
      version: '1',
      description: null,
      parametersSchema: { type: 'object', properties: { seed: {} } },
      ignoreInHash: [],
      volatile: [],
      queue: 'default',
      priority: 0,
      executor: 'command',
      retry: {},
      timeoutSeconds: null,
      expectedSeconds: null,
      concurrency: null,
      command: { argv: ['python3', 'model.py'], folder: '/' },
    },
  ])
})

test('no folder at all can be asked for', () => {
  expect(modelOf('command: [hostname]\nfolder: null').models[0]?.command).toEqual({ argv: ['hostname'] })
})

test('a job on Ray that brings its own files gets none of ours', () => {
  const { models } = modelOf(
    'executor: ray\npython: m:f\nray: {runtime_env: {working_dir: "https://example.org/a.zip"}}',
  )
  expect(models[0]?.python).toEqual({ callable: 'm:f' })
})

describe('a declaration that does not fit is refused with the place and the cure', () => {
  test.each<[string, string, number, number, RegExp]>([
    ['an unknown key', 'comand: [a]', 4, 5, /no key "comand" here; the nearest is command/],
    ['an unknown key inside', 'command: [a]\nretry: {max_atempts: 2}', 5, 13, /nearest is max_attempts/],
    ['a command for a shell', 'command: python3 model.py', 4, 14, /must be a list.*no shell/],
    ['a version that is a number', 'command: [a]\nversion: 1.10', 5, 14, /quotes, "1\.10"/],
    ['a version without value', 'command: [a]\nversion:', 5, 13, /version has no value/],
    ['a variable that is a number', 'command: [a]\nenvironment: {N: 8080}', 5, 22, /quotes, "8080"/],
    ['a variable that may be false', 'command: [a]\nenvironment: {N: no}', 5, 22, /true or false/],
    ['a name that no variable has', 'command: [a]\nenvironment: {"a b": x}', 5, 19, /environment variable/],
    ['a name the service gives', 'command: [a]\nenvironment: {HOLDFAST_URL: x}', 5, 19, /service itself/],
    ['a variable set twice', 'command: [a]\nenvironment: {K: x}\nsecrets: {K: f}', 6, 15, /twice/],
    ['a credential passed on', 'command: [a]\ninherit_environment: [DATABASE_URL]', 5, 27, /never passed on/],
    ['an unknown executor', 'executor: process', 4, 15, /one of command, ray, kubernetes, remote/],
    ['nothing to run', 'queue: q', 2, 5, /neither a command nor an executor/],
    [
      'a default executor that is not allowed',
      'command: [a]\nexecutor: ray\nexecutors: [command]',
      5,
      15,
      /not one of/,
    ],
    ['remote beside others', 'command: [a]\nexecutors: [command, remote]', 5, 16, /stands alone/],
    ['ray without work', 'executor: ray', 2, 5, /needs the key command or python/],
    ['kubernetes without image', 'executor: kubernetes', 2, 5, /with an image/],
    ['a key nobody uses', 'executor: remote\ncommand: [a]', 5, 5, /command is for command or ray/],
    ['a key without its command', 'executor: ray\npython: m:f\nsecrets: {K: f}', 6, 5, /goes with a command/],
    ['variables for Ray', 'command: [a]\nexecutors: [ray]\ninherit_environment: [K]', 6, 5, /cannot pass on/],
    ['a folder that is not there', 'command: [a]\nfolder: nowhere', 5, 13, /no folder \/nowhere/],
    [
      'two folders for Ray',
      'executor: ray\ncommand: [a]\nfolder: .\nray: {runtime_env: {working_dir: x}}',
      7,
      38,
      /keep one/,
    ],
    ['a callable without function', 'executor: ray\npython: model.price', 5, 13, /module:function/],
    ['a name that is no parameter', 'command: [a]\nignore_in_hash: [x]', 5, 22, /no parameter/],
    ['an empty name in volatile', 'command: [a]\nvolatile: [a..b]', 5, 16, /between dots/],
    ['an empty name in a facet', 'command: [a]\nfacets: {b: a..b}', 5, 17, /between dots/],
    ['an empty name in places', 'command: [a]\nplaces: .', 5, 13, /between dots/],
    [
      'a policy against itself',
      'command: [a]\nretry: {base_delay_seconds: 9, max_delay_seconds: 1}',
      5,
      12,
      /base_delay_seconds must/,
    ],
    ['a priority out of bounds', 'command: [a]\npriority: 101', 5, 15, /100/],
  ])('%s', (_what, lines, line, column, detail) => {
    const { models, problems } = modelOf(lines)
    expect(models).toEqual([])
    expect(problems[0]).toMatchObject({ line, column })
    expect(problems[0]?.detail).toMatch(detail)
  })

  test('a JSON Schema that cannot be used, with its pointer', () => {
    const { problems } = read(
      'models:\n  - name: a\n    command: [b]\n    parameters:\n      properties:\n        n: {minimun: 1}\n',
    )
    expect(problems).toEqual([
      {
        line: 6,
        column: 13,
        pointer: '/models/0/parameters/properties/n/minimun',
        detail: 'is no keyword of JSON Schema; the nearest is minimum',
      },
    ])
  })

  test('a missing key is told at the model', () => {
    const { problems } = read('models:\n  - name: a\n    command: [b]\n')
    expect(problems).toMatchObject([{ line: 2, column: 5, detail: 'parameters is missing' }])
  })

  test('one model twice', () => {
    const one = '  - {name: a, parameters: {type: object}, command: [b]}\n'
    expect(read(`models:\n${one}${one}`).problems).toMatchObject([{ line: 3, detail: 'the model a@1 is here twice' }])
  })

  test('all problems of a file are told, in their order', () => {
    const { problems } = read('models:\n  - {name: 1a, parameters: {}, command: x}\n  - {nam: b}\nmodel: 1\n')
    expect(problems.map(({ line }) => line)).toEqual([2, 2, 3, 3, 3, 4])
  })
})

describe('as models of a worker', () => {
  const write = (text: string) => writeFileSync(join(folder, 'holdfast.yaml'), text)

  test('a file is loaded beside modules, relative to where the worker started', async () => {
    write('models:\n  - {name: a, parameters: {type: object}, command: [b, c]}\n')
    const registry = await loadModels(['holdfast.yaml', './holdfast.yaml'], folder)
    expect(registry.all()).toEqual([])
    expect(registry.specOf('a', '1')?.command).toEqual({ argv: ['b', 'c'], folder })
  })

  test('its problems are told with file, line and column', async () => {
    write('models:\n  - {name: a, parameters: {type: object}, comand: [b]}\n')
    const loading = loadModels(['holdfast.yaml'], folder)
    await expect(loading).rejects.toThrow(`${join(folder, 'holdfast.yaml')}:2:43: /models/0/comand: there is no key`)
  })

  test('a file that is not there is told with the path tried', async () => {
    await expect(loadModels(['x.yml'], folder)).rejects.toThrow(`tried ${join(folder, 'x.yml')}`)
  })

  test('a model that a module defines too is refused', async () => {
    write('models:\n  - {name: named, version: "2", parameters: {type: object}, command: [b]}\n')
    const several = join(import.meta.dirname, 'fixtures/several.ts')
    await expect(loadModels([several, 'holdfast.yaml'], folder)).rejects.toThrow('named@2 is defined twice')
    await expect(loadModels(['holdfast.yaml', several], folder)).rejects.toThrow('named@2 is defined twice')
  })

  test('lines are written as compilers write them', () => {
    write('a: [\n')
    const { path, problems } = readYamlModels(join(folder, 'holdfast.yaml'))
    expect(yamlProblemLines(path, problems)[0]).toMatch(/holdfast\.yaml:\d+:\d+: /)
  })
})
