import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { until } from '../../test/support/until.ts'
import { planDashboardBuild } from './dashboard-build.ts'

const BUILDS = `
import { mkdirSync, writeFileSync } from 'node:fs'
mkdirSync(import.meta.dirname + '/dist')
writeFileSync(import.meta.dirname + '/dist/index.html', JSON.stringify({ argv: process.argv.slice(2), env: process.env }))
`
const FAILS = `console.error('\\x1b[31mthere is no vite\\x1b[39m'); process.exit(3)`
const HANGS = `
import { writeFileSync } from 'node:fs'
writeFileSync(import.meta.dirname + '/begun', String(process.pid))
setInterval(() => {}, 1_000)
`
const ENV = { PATH: process.env.PATH, DATABASE_URL: 'postgres://secret' }

/** A checkout of a dashboard whose build is this program. */
async function plan(program: string) {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  await mkdir(join(folder.path, 'src'))
  await writeFile(join(folder.path, 'build.ts'), program)
  const { log, lines } = recordingLog()
  const build = await planDashboardBuild({ root: folder.path, env: ENV, log })
  onTestFinished(() => build.stop())
  return { root: folder.path, build, lines, says: (msg: string) => lines.find((line) => line.msg === msg) }
}

it('what is missing is built, by a process that knows nothing of the database', async () => {
  const { root, build, says } = await plan(BUILDS)
  expect(build.state()).toBe('building')
  expect(existsSync(join(root, 'dist'))).toBe(false)
  build.begin()
  build.begin()
  await until(() => says('dashboard built'), { what: 'it is built' })
  expect(build.state()).toBe('idle')
  const { argv, env } = JSON.parse(readFileSync(join(root, 'dist', 'index.html'), 'utf8'))
  expect(argv).toEqual(['--gently'])
  expect(env.PATH).toBe(ENV.PATH)
  expect(env.DATABASE_URL).toBeUndefined()
})

it('what fails is a warning with what was said and what to do', async () => {
  const { build, says } = await plan(FAILS)
  build.begin()
  const line = await until(() => says('the dashboard could not be built; everything else works'), { what: 'it fails' })
  expect(line).toMatchObject({ level: 'warn', code: 3, output: ['there is no vite'] })
  expect(line.next).toContain('npm run build -w dashboard')
  expect(build.state()).toBe('failed')
})

it('it ends when the service does, without a word', async () => {
  const { root, build, lines } = await plan(HANGS)
  build.begin()
  await until(() => existsSync(join(root, 'begun')), { what: 'it has begun' })
  await build.stop()
  const pid = Number(readFileSync(join(root, 'begun'), 'utf8'))
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([])
})

it('another folder than ours is not built', async () => {
  const { log, lines } = recordingLog()
  const build = await planDashboardBuild({ root: null, env: ENV, log })
  build.begin()
  expect(build.state()).toBe('idle')
  await build.stop()
  expect(lines).toEqual([])
})
