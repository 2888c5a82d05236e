/**
 * The executors of one worker, by what is configured. Part of `compose.ts`, in a file of its own because there are several. Engines are
 * loaded only where they are used: the memory of an idle worker is counted.
 */

import { resolve } from 'node:path'
import type { BlobStore } from './blob/blob.ts'
import type { Config } from './config/config.ts'
import { environment } from './config/read-environment.ts'
import { CommandExecutor } from './executor/command.ts'
import { removeAbandoned, removeFolder, workerFolderIn } from './executor/command-folder.ts'
import type { Executor } from './executor/executor.ts'
import { fitting } from './executor/fitting.ts'
import { InlineExecutor } from './executor/inline.ts'
import { ProcessExecutor } from './executor/process.ts'
import type { RayClient } from './executor/ray-client.ts'
import type { RayPool } from './executor/ray-pool.ts'
import { isYamlFile } from './model/load-models.ts'
import type { Registry } from './model/registry.ts'
import type { Store } from './store/store.ts'
import type { Log } from './telemetry/log.ts'
import type { InputFolder } from './worker/stage-files.ts'

const MIB = 1_048_576
/** How long to wait for word from a Ray job that Ray has lost sight of. */
const DOUBT_MS = 30_000
const LOG_SPARE_BYTES = 65_536

export type ExecutorParts = { config: Config; log: Log; store: Store; blob: BlobStore }
type Around = ExecutorParts & { registry: Registry }

export async function createExecutors(parts: ExecutorParts, registry: Registry): Promise<Executor[]> {
  const around = { ...parts, registry }
  const others = [processExecutor(around), commandExecutor(around)]
  if (parts.config.ray.clusters.length > 0) others.push(await rayExecutor(around))
  if (parts.config.kubernetes.connection !== null) {
    others.push(await kubernetesExecutor(around, parts.config.kubernetes.connection))
  }
  return [
    // Looks each attempt up by itself, without a step in between: short work is what it is for.
    new InlineExecutor({ registry, timeoutGraceMs: timeoutGraceMsOf(parts.config) }),
    ...others.map((executor) => fitting(executor, registry.specOf)),
  ]
}

/** Half of what the database allows past the deadline: a timed-out attempt is settled as such before its lease can lapse. */
function timeoutGraceMsOf({ worker }: Config): number {
  return Math.min(5_000, worker.deadlineGraceMs / 2)
}

function processExecutor({ config }: Around): Executor {
  return new ProcessExecutor({
    modules: config.worker.models.filter((name) => !isYamlFile(name)),
    from: process.cwd(),
    childrenMax: config.worker.concurrency,
    timeoutGraceMs: timeoutGraceMsOf(config),
    memoryLimitMb: Math.round(config.child.memoryLimitBytes / MIB),
    env: environment(),
    envNames: config.child.env,
    compileCacheFolder: resolve(config.database.dataDir, 'compile-cache'),
  })
}

function commandExecutor({ config, blob, registry }: Around): Executor {
  return new CommandExecutor({
    specOf: (model, version) => registry.specOf(model, version)?.command,
    workFolder: resolve(config.command.workDir),
    env: environment(),
    envNames: config.child.env,
    keepArtifact: (name, bytes) => blob.put(name, bytes),
    memoryLimitMb: Math.round(config.child.memoryLimitBytes / MIB),
    resultBytesMax: config.result.bytesMax,
    folderBytesMax: config.command.folderBytesMax,
    outputFilesMax: config.command.outputFilesMax,
    outputFilesBytesMax: config.command.outputFilesBytesMax,
    timeoutGraceMs: timeoutGraceMsOf(config),
  })
}

/** Beside the folders of programs, and removed like these. */
export function inputFolderIn(workFolder: string): InputFolder {
  return {
    path: workerFolderIn(workFolder),
    remove: removeFolder,
    removeAbandoned: () => removeAbandoned(workFolder),
  }
}

async function rayExecutor(around: Around): Promise<Executor> {
  const { config, log, store, blob, registry } = around
  const { http, ray } = config
  const { RayExecutor } = await import('./executor/ray.ts')
  const { createRayClients } = await import('./executor/ray-clusters.ts')
  const clusters = createRayClients(ray)
  // The folder of large results is bound to one database, so its id is also that of the installation.
  const service = { serviceUrl: serviceUrlOf(http), installation: await blob.identity() }
  return new RayExecutor({
    ...service,
    clusters,
    pools: await rayPools(around, clusters, service),
    definitionOf: registry.specOf,
    timings: {
      pollMs: ray.pollMs,
      lostAfterMs: ray.lostAfterMs,
      doubtMs: DOUBT_MS,
      timeoutGraceMs: timeoutGraceMsOf(config),
    },
    jobsMax: ray.jobsMax,
    isCurrent: isCurrentIn(store),
    onSwept: ({ runId, attempt, cluster }) =>
      log.warn({ run_id: runId, attempt, cluster }, 'stopped a Ray job that nobody waits for any more'),
  })
}

async function rayPools(
  { config, log, registry }: Around,
  clusters: Map<string, RayClient>,
  service: { serviceUrl: string; installation: string },
): Promise<RayPool[]> {
  const { RayPool } = await import('./executor/ray-pool.ts')
  const { pools, poolTokenFile: tokenFile } = config.ray
  return pools.map(({ queue, actors, cluster }) => {
    const client = clusters.get(cluster ?? (clusters.has('default') ? 'default' : [...clusters.keys()][0]!))
    if (!client) throw new Error(`HOLDFAST_RAY_POOLS names ${cluster}, which HOLDFAST_RAY_CLUSTERS does not have`)
    const models = registry
      .declared()
      .filter((model) => model.python && model.executor === 'remote' && model.queue === queue)
    const onEvent = (message: string, fields: object) => log.info({ queue, ...fields }, message)
    return new RayPool({ ...service, client, queue, actors, models, tokenFile, onEvent })
  })
}

async function kubernetesExecutor(
  { config, log, store, blob, registry }: Around,
  connection: string,
): Promise<Executor> {
  const { http, kubernetes } = config
  const { context, namespace, jobsMax, keepSeconds, lostAfterMs, stuckMs, requestMs } = kubernetes
  const { KubernetesExecutor } = await import('./executor/kubernetes.ts')
  const { createKubernetesClient } = await import('./executor/kubernetes-connect.ts')
  return new KubernetesExecutor({
    client: await createKubernetesClient({ connection, context, requestMs, env: environment() }),
    specOf: registry.specOf,
    serviceUrl: serviceUrlOf(http),
    installation: await blob.identity(),
    namespace,
    namespaces: registry.declared().flatMap(({ kubernetes: spec }) => spec?.namespace ?? []),
    jobsMax,
    keepSeconds,
    graceSeconds: Math.ceil(config.worker.cancelGraceMs / 1_000),
    // A little more than is kept, so that what keeps it notices that something was left out.
    logBytesMax: config.worker.logBytesMax + LOG_SPARE_BYTES,
    timings: { lostAfterMs, stuckMs, timeoutGraceMs: timeoutGraceMsOf(config) },
    isCurrent: isCurrentIn(store),
    onSwept: ({ runId, attempt, namespace }) =>
      log.warn({ run_id: runId, attempt, namespace }, 'deleted a Kubernetes Job that nobody waits for any more'),
  })
}

/** Whether an attempt is the open one of its run. */
function isCurrentIn(store: Store) {
  return async ({ runId, attempt }: { runId: string; attempt: number }): Promise<boolean> => {
    const run = (await store.readRun(runId, null))?.run
    return run?.status === 'RUNNING' && run.attemptCount === attempt
  }
}

/** Where code that runs elsewhere reaches the API. */
function serviceUrlOf({ publicUrl, host, port }: Config['http']): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
