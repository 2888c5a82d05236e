/** Starts one SeaweedFS for all test files, with a bucket, in a folder that goes with it, and names it in HOLDFAST_TEST_S3. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { tempFolder } from '../support/temp-folder.ts'
import { until } from '../support/until.ts'
import { PLACE } from './store.ts'

const PARTS = ['master', 'volume', 'filer', 's3']

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

export default async function start(): Promise<() => Promise<void>> {
  const program = process.env.HOLDFAST_TEST_SEAWEEDFS
  if (!program) throw new Error('run these tests by npm run test:s3')
  const folder = await tempFolder()
  const { accessKeyId: accessKey, secretAccessKey: secretKey } = PLACE.credentials
  const identity = { name: 'test', credentials: [{ accessKey, secretKey }], actions: ['Admin'] }
  const config = join(folder.path, 's3.json')
  await writeFile(config, JSON.stringify({ identities: [identity] }))
  const data = join(folder.path, 'data')
  await mkdir(data)
  const ports = await freePorts(2 * PARTS.length)
  const portFlags = PARTS.flatMap((part, i) => [
    `-${part}.port=${ports[2 * i]}`,
    `-${part}.port.grpc=${ports[2 * i + 1]}`,
  ])
  const endpoint = `http://127.0.0.1:${ports.at(-2)}`
  const argv = ['-logtostderr=true', 'server', `-dir=${data}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1', ...portFlags]
  argv.push('-filer', '-s3', `-s3.config=${config}`, '-s3.port.iceberg=0', '-s3.iam=false')
  argv.push('-volume.max=20', '-master.volumeSizeLimitMB=64', '-volume.preStopSeconds=0')
  const said = join(folder.path, 'server.log')
  const server = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'], env: { HOME: folder.path } })
  const log = createWriteStream(said)
  server.stdout.pipe(log, { end: false })
  server.stderr.pipe(log, { end: false })

  async function stop(): Promise<void> {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill('SIGKILL')
      await once(server, 'close')
    }
    await folder.remove()
  }

  const client = new S3Client({ ...PLACE, endpoint, forcePathStyle: true, maxAttempts: 1 })
  const makeBucket = () => client.send(new CreateBucketCommand({ Bucket: PLACE.bucket }))
  try {
    await until(
      () =>
        makeBucket().then(
          () => true,
          () => false,
        ),
      { what: 'the S3 server answers', timeoutMs: 40_000, everyMs: 200 },
    )
  } catch (error) {
    console.error(await readFile(said, 'utf8'))
    await stop()
    throw error
  } finally {
    client.destroy()
  }
  process.env.HOLDFAST_TEST_S3 = endpoint
  return stop
}
