/**
 * What happens behind the in-process Kubernetes API server: the job controller makes pods and reads how they end, the kubelet runs them by the
 * test's script, and the garbage collector goes after what is owned by something gone. Each acts a moment after what it reacts to, so that
 * a client sees the states in between.
 */

import { FakePod } from './kube-api-pod.ts'
import { type KubeObject, type KubeStorage, now, type StoredEvent } from './kube-api-storage.ts'

export type ClusterOptions = {
  /** How long each controller takes to notice. */
  delayMs?: number
  /** What pods do. By default they start and go on until they are stopped. */
  work?: (pod: FakePod) => void | Promise<void>
  /** Kueue: Jobs that name a queue are suspended until `admit`. */
  kueue?: boolean
}

export class KubeCluster {
  readonly pods: FakePod[] = []
  work: (pod: FakePod) => void | Promise<void>
  readonly #storage: KubeStorage
  readonly #delayMs: number
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #unlisten: () => void

  constructor(storage: KubeStorage, options: ClusterOptions = {}) {
    this.#storage = storage
    this.#delayMs = options.delayMs ?? 5
    this.work = options.work ?? ((pod) => pod.start())
    this.#unlisten = storage.onEvent((event) => this.#react(event))
  }

  /** The pods of a Job that ever were, in the order of their making. */
  podsOf(jobName: string): FakePod[] {
    return this.pods.filter((pod) => pod.jobName === jobName)
  }

  podNamed(name: string): FakePod | undefined {
    return this.pods.find((pod) => pod.name === name)
  }

  /** What Kueue does when a queue has room. */
  admit(namespace: string, jobName: string): void {
    this.#storage.update('jobs', namespace, jobName, (job) => {
      job.spec.suspend = false
    })
  }

  close(): void {
    this.#unlisten()
    for (const timer of this.#timers) clearTimeout(timer)
    for (const pod of this.pods) if (!pod.isOver) pod.askStop()
  }

  deleteJob(namespace: string, name: string, policy: 'Orphan' | 'Background' | 'Foreground'): KubeObject {
    const job = this.#storage.get('jobs', namespace, name)!
    if (policy === 'Foreground') {
      if (!job.metadata.deletionTimestamp) {
        this.#storage.update('jobs', namespace, name, (object) => {
          object.metadata.deletionTimestamp = now()
          object.metadata.finalizers = ['foregroundDeletion']
        })
        this.#later(() => this.#collect(job, true))
      }
      return job
    }
    if (policy === 'Orphan') {
      for (const pod of this.#owned('pods', job)) {
        this.#storage.update('pods', namespace, pod.metadata.name, (object) => {
          delete object.metadata.ownerReferences
        })
      }
    }
    this.#storage.remove('jobs', namespace, name)
    this.#later(() => this.#collect(job, false))
    return job
  }

  deletePod(namespace: string, name: string): void {
    const pod = this.#storage.update('pods', namespace, name, (object) => {
      object.metadata.deletionTimestamp ??= now()
    })
    const fake = this.podNamed(name)
    if (pod && fake) this.#later(() => (fake.isOver ? this.#forget(fake) : fake.askStop()))
  }

  #react({ type, resource, namespace, object }: StoredEvent): void {
    const { name } = object.metadata
    if (resource === 'jobs' && type !== 'DELETED') this.#later(() => this.#syncJob(namespace, name))
    if (resource === 'pods' && type === 'ADDED') this.#later(() => this.#runPod(namespace, name))
    if (resource === 'pods' && type !== 'ADDED') this.#later(() => this.#podChanged(namespace, name, object))
    if (resource === 'secrets' && type === 'ADDED') this.#later(() => this.#retryWaiting(namespace))
  }

  /** The job controller. */
  #syncJob(namespace: string, name: string): void {
    const job = this.#storage.get('jobs', namespace, name)
    if (!job || job.metadata.deletionTimestamp || job.spec.suspend || job.status?.startTime) return
    const pod = this.#storage.create('pods', namespace, podOf(job))
    this.#storage.update('jobs', namespace, name, (object) => {
      object.status = { startTime: now(), active: 1, ready: 0 }
    })
    const { activeDeadlineSeconds } = job.spec
    if (activeDeadlineSeconds !== undefined && pod) {
      this.#later(() => this.#deadline(namespace, name), activeDeadlineSeconds * 1_000)
    }
  }

  #deadline(namespace: string, name: string): void {
    const job = this.#storage.get('jobs', namespace, name)
    if (!job || isFinished(job)) return
    for (const pod of this.#owned('pods', job)) this.deletePod(namespace, pod.metadata.name)
    this.#finish(namespace, name, 'Failed', 'DeadlineExceeded', 'Job was active longer than specified deadline')
  }

  /** The kubelet. A container whose Secret is missing is tried again when one comes. */
  async #runPod(namespace: string, name: string): Promise<void> {
    const object = this.#storage.get('pods', namespace, name)
    if (!object || object.metadata.deletionTimestamp) return
    let pod = this.podNamed(name)
    if (!pod) {
      pod = new FakePod(this.#storage, object)
      this.pods.push(pod)
    }
    const env = this.#environment(namespace, object)
    if ('missing' in env) {
      pod.waiting('CreateContainerConfigError', `secret "${env.missing}" not found`)
      return
    }
    pod.env = env.values
    await this.work(pod)
  }

  #retryWaiting(namespace: string): void {
    for (const { metadata, status } of this.#storage.list('pods', namespace)) {
      const waiting = status?.containerStatuses?.[0]?.state?.waiting
      if (waiting?.reason === 'CreateContainerConfigError') void this.#runPod(namespace, metadata.name)
    }
  }

  #environment(namespace: string, pod: KubeObject): { values: Record<string, string> } | { missing: string } {
    const values: Record<string, string> = {}
    for (const { name, value, valueFrom } of pod.spec.containers[0].env ?? []) {
      const { secretKeyRef } = valueFrom ?? {}
      if (!secretKeyRef) {
        values[name] = String(value ?? '').replaceAll('$$', '$')
        continue
      }
      const secret = this.#storage.get('secrets', namespace, secretKeyRef.name)
      if (!secret) return { missing: secretKeyRef.name }
      values[name] = Buffer.from(secret.data[secretKeyRef.key], 'base64').toString('utf8')
    }
    return { values }
  }

  /** A pod that is deleted goes when its containers have ended; its Job counts it in any case. */
  #podChanged(namespace: string, name: string, seen: KubeObject): void {
    const pod = this.#storage.get('pods', namespace, name) ?? seen
    const fake = this.podNamed(name)
    const phase = pod.status?.phase
    const jobName = pod.metadata.ownerReferences?.[0]?.name
    if (jobName && (phase === 'Succeeded' || phase === 'Failed')) {
      const job = this.#storage.get('jobs', namespace, jobName)
      if (job && !isFinished(job) && !job.metadata.deletionTimestamp) this.#countEnd(namespace, jobName, phase)
    } else if (jobName && phase === 'Running') {
      this.#storage.update('jobs', namespace, jobName, (job) => {
        if (job.status) job.status.ready = 1
      })
    }
    if (fake?.isOver && pod.metadata.deletionTimestamp) this.#forget(fake)
  }

  #countEnd(namespace: string, name: string, phase: 'Succeeded' | 'Failed'): void {
    if (phase === 'Succeeded') this.#finish(namespace, name, 'Complete', 'CompletionsReached', '')
    else this.#finish(namespace, name, 'Failed', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  }

  /** First what it will be, then, a moment later, that it is. */
  #finish(namespace: string, name: string, type: 'Complete' | 'Failed', reason: string, message: string): void {
    const early = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
    const isNew = (job: KubeObject) => !job.status?.conditions?.some((one: { type: string }) => one.type === early)
    const job = this.#storage.get('jobs', namespace, name)
    if (!job || !isNew(job)) return
    const add = (condition: string) =>
      this.#storage.update('jobs', namespace, name, (object) => {
        object.status ??= {}
        object.status.conditions = [
          ...(object.status.conditions ?? []),
          { type: condition, status: 'True', reason, message },
        ]
      })
    add(early)
    this.#later(() => {
      add(type)
      this.#storage.update('jobs', namespace, name, (object) => {
        object.status.active = 0
        object.status[type === 'Complete' ? 'succeeded' : 'failed'] = 1
      })
    })
    const { ttlSecondsAfterFinished } = job.spec
    if (ttlSecondsAfterFinished !== undefined) {
      this.#later(() => {
        if (this.#storage.get('jobs', namespace, name)) this.deleteJob(namespace, name, 'Background')
      }, ttlSecondsAfterFinished * 1_000)
    }
  }

  /** The garbage collector. */
  #collect(job: KubeObject, foreground: boolean): void {
    const { namespace, name } = job.metadata
    const pods = this.#owned('pods', job)
    for (const pod of pods) if (!pod.metadata.deletionTimestamp) this.deletePod(namespace, pod.metadata.name)
    if (foreground && pods.length > 0) {
      this.#later(() => this.#collect(job, true))
      return
    }
    for (const secret of this.#owned('secrets', job)) this.#storage.remove('secrets', namespace, secret.metadata.name)
    if (foreground) this.#storage.remove('jobs', namespace, name)
  }

  #owned(resource: 'pods' | 'secrets', { metadata }: KubeObject): KubeObject[] {
    return this.#storage
      .list(resource, metadata.namespace)
      .filter((one) => one.metadata.ownerReferences?.some(({ uid }: { uid: string }) => uid === metadata.uid))
  }

  #forget(pod: FakePod): void {
    this.#storage.remove('pods', pod.namespace, pod.name)
  }

  #later(action: () => unknown, ms = this.#delayMs): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      void action()
    }, ms)
    timer.unref()
    this.#timers.add(timer)
  }
}

function isFinished(job: KubeObject): boolean {
  return Boolean(job.status?.conditions?.some(({ type }: { type: string }) => type === 'Complete' || type === 'Failed'))
}

let podCount = 0

function podOf(job: KubeObject): KubeObject {
  const { name, uid } = job.metadata
  const { metadata, spec } = job.spec.template
  podCount += 1
  const labels = { ...metadata?.labels, 'job-name': name, 'batch.kubernetes.io/job-name': name, 'controller-uid': uid }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${podCount.toString(36).padStart(5, '0')}`,
      labels,
      annotations: metadata?.annotations,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec,
    status: { phase: 'Pending' },
  }
}
