/** Holds the directions in which the folders of src/ may import each other (DESIGN section 2), and a few habits that go with them. */

import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const LINES_MAX = 400

type Source = {
  path: string
  folder: string
  text: string
  code: string
  imports: string[]
  /** Without those of types, which are gone when the program runs. */
  importsAtRunTime: string[]
}

const IMPORT = /(?:^|[\s;}])(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*['"]([^'"]+)['"]/g
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

/** Relative imports become paths from the checkout; packages and builtins stay as they are. */
function importsOf(path: string, code: string): string[] {
  const specifiers = [...code.matchAll(IMPORT), ...code.matchAll(DYNAMIC)].map((match) => match[1]!)
  return specifiers.map((specifier) =>
    specifier.startsWith('.') ? relative(ROOT, resolve(dirname(join(ROOT, path)), specifier)) : specifier,
  )
}

const sources: Source[] = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.[jt]s$/.test(name))
  .map((name) => {
    const path = join('src', name)
    const text = readFileSync(join(ROOT, path), 'utf8')
    const code = withoutComments(text)
    const importsAtRunTime = importsOf(path, code.replace(/^(import|export) type [^'"]*['"][^'"]+['"]/gm, ''))
    return { path, folder: path.split('/')[1]!, text, code, imports: importsOf(path, code), importsAtRunTime }
  })

const isTest = ({ path }: Source) => path.endsWith('.test.ts') || path.includes('/fixtures/')
const program = sources.filter((source) => !isTest(source))
const PORTS = ['store', 'wakeup', 'blob', 'executor']
const portOf = (folder: string) => `src/${folder}/${folder}.ts`

/** Everything of ours that a folder imports and that `allowed` does not. */
function strays(folder: string, allowed: (path: string, from: Source) => boolean): string[] {
  return program
    .filter((source) => source.folder === folder)
    .flatMap((source) =>
      source.imports
        .filter((path) => path.startsWith('src/') && !path.startsWith(`src/${folder}/`) && !allowed(path, source))
        .map((path) => `${source.path} imports ${path}`),
    )
}

const inFolder =
  (...folders: string[]) =>
  (path: string) =>
    folders.some((folder) => path.startsWith(`src/${folder}/`))
/** The store's port is larger than one file. */
const isPort = (path: string) => PORTS.some((folder) => path === portOf(folder)) || path.startsWith('src/store/ports/')

describe('the directions of imports', () => {
  it('there is something to check', () => {
    expect(program.length).toBeGreaterThan(100)
    expect(program.flatMap(({ imports }) => imports).length).toBeGreaterThan(400)
    expect(program.find(({ path }) => path === 'src/worker/attempt.ts')?.imports).toContain('src/store/store.ts')
  })

  it('run imports nothing of ours and does no I/O', () => {
    expect(strays('run', () => false)).toEqual([])
    const outside = program
      .filter(({ folder }) => folder === 'run')
      .flatMap(({ path, imports }) => imports.filter(isBuiltin).map((name) => `${path} imports ${name}`))
    expect(outside.filter((line) => !line.endsWith(' node:crypto'))).toEqual([])
  })

  it('run asks neither clock nor chance', () => {
    const impure = program.filter(
      ({ folder, code }) =>
        folder === 'run' && /\bDate\.now|new Date\(\)|Math\.random|performance\.now|randomUUID|randomBytes/.test(code),
    )
    expect(impure.map(({ path }) => path)).toEqual([])
  })

  it('contract imports only run', () => {
    expect(strays('contract', inFolder('run'))).toEqual([])
  })

  it.each(PORTS)('the port of %s imports only run, and its implementations only it and run', (folder) => {
    const port = program.find(({ path }) => path === portOf(folder))!
    const ofPort = (path: string) => inFolder('run')(path) || path.startsWith(`src/${folder}/ports/`)
    expect(port.imports.filter((path) => path.startsWith('src/') && !ofPort(path))).toEqual([])
    // What executes user code knows how users define models; nothing else does.
    expect(strays(folder, inFolder('run', ...(folder === 'executor' ? ['model'] : [])))).toEqual([])
  })

  it('model imports run and the words of the executor port', () => {
    expect(strays('model', (path) => inFolder('run')(path) || path === portOf('executor'))).toEqual([])
  })

  it.each(['worker', 'api'])('%s imports ports and never an implementation', (folder) => {
    const allowed = (path: string) =>
      isPort(path) ||
      inFolder('run', 'telemetry', 'contract')(path) ||
      (folder === 'api' && [...PARAMETER_CHECK, ...RULES_OF_WORKERS].includes(path))
    expect(strays(folder, allowed)).toEqual([])
  })

  it('delivery imports ports, and of the worker only its loop', () => {
    const allowed = (path: string) =>
      isPort(path) ||
      inFolder('run', 'telemetry', 'contract')(path) ||
      ['src/worker/loop.ts', 'src/worker/watched-loop.ts'].includes(path)
    expect(strays('delivery', allowed)).toEqual([])
  })

  it('telemetry and config import only run', () => {
    for (const folder of ['telemetry', 'config']) expect(strays(folder, inFolder('run'))).toEqual([])
  })

  it('nothing imports compose.ts or cli but cli itself', () => {
    const offenders = program.flatMap((source) =>
      source.imports
        .filter((path) => path === 'src/compose.ts' || path.startsWith('src/cli/'))
        .filter(() => source.folder !== 'cli')
        .map((path) => `${source.path} imports ${path}`),
    )
    expect(offenders).toEqual([])
  })

  it('there is no cycle at run time', () => {
    expect(cycles(new Map(program.map(({ path, importsAtRunTime }) => [path, importsAtRunTime])))).toEqual([])
  })
})

/** The API checks parameters from the registered JSON Schema with the checker that models use. */
const PARAMETER_CHECK = ['src/model/parameter-check.ts', 'src/model/schema-problems.ts']
/** The API settles what remote workers report, by the rules that our own workers settle by. */
const RULES_OF_WORKERS = [
  'src/worker/classify.ts',
  'src/worker/keep-result.ts',
  'src/worker/progress.ts',
  'src/worker/keep-step-output.ts',
  'src/worker/read-done-steps.ts',
]

describe('habits', () => {
  const SQL = /\b(SELECT\s[\s\S]{1,300}?\sFROM\s|INSERT\s+INTO\s|UPDATE\s+\w+[\s\S]{0,40}?\sSET\s|DELETE\s+FROM\s)/

  it('SQL text is under src/store only', () => {
    const offenders = program.filter(({ folder, code }) => {
      const literals = [...code.matchAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/g)]
      return folder !== 'store' && literals.some(([literal]) => SQL.test(literal))
    })
    expect(offenders.map(({ path }) => path)).toEqual([])
  })

  it('only config looks at the environment', () => {
    const offenders = program.filter(({ folder, code }) => folder !== 'config' && /\bprocess\.env\b/.test(code))
    expect(offenders.map(({ path }) => path)).toEqual([])
  })

  it('only cli writes to a person by itself', () => {
    const offenders = program.filter(
      ({ folder, code }) => folder !== 'cli' && /\bconsole\.|process\.std(out|err)\.write/.test(code),
    )
    expect(offenders.map(({ path }) => path)).toEqual([])
  })

  it(`no file is longer than ${LINES_MAX} lines`, () => {
    const long = sources.filter(({ text }) => text.split('\n').length - 1 > LINES_MAX)
    expect(long.map(({ path }) => path)).toEqual([])
  })

  it('names say what a file is about', () => {
    const vague = /(^|[/-])(utils?|helpers?|common|lib|types|manager|service)(-|\.|\/|$)/
    expect(sources.filter(({ path }) => vague.test(path)).map(({ path }) => path)).toEqual([])
  })
})

function cycles(imports: Map<string, string[]>): string[] {
  const found: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const visit = (path: string, trail: string[]): void => {
    if (state.get(path) === 'done') return
    if (state.get(path) === 'open') {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      return
    }
    state.set(path, 'open')
    for (const next of imports.get(path) ?? []) if (imports.has(next)) visit(next, [...trail, path])
    state.set(path, 'done')
  }
  for (const path of imports.keys()) visit(path, [])
  return found
}
