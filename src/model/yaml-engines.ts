/** What a declaration asks of Ray and of Kubernetes, in their own units; `resources` holds where they say nothing themselves. */

import type { KubernetesSpec, RaySpec } from '../run/definition.ts'
import type { YamlModel } from './yaml-schema.ts'

type Ray = NonNullable<YamlModel['ray']>
type Kubernetes = NonNullable<YamlModel['kubernetes']>
type Resources = NonNullable<YamlModel['resources']>

const MIB = 1_048_576

export function rayOf(ray: Ray = {}, resources: Resources = {}): RaySpec {
  const cpus = ray.cpus ?? resources.cpus
  const gpus = ray.gpus ?? resources.gpus
  const memoryMb = ray.memory_mb ?? resources.memory_mb
  return {
    ...(ray.cluster && { cluster: ray.cluster }),
    ...(ray.runtime_env && { runtimeEnv: ray.runtime_env }),
    ...(cpus !== undefined && { cpus }),
    ...(gpus !== undefined && { gpus }),
    ...(memoryMb !== undefined && { memoryBytes: memoryMb * MIB }),
    ...(ray.resources && { resources: ray.resources }),
  }
}

export function kubernetesOf(kubernetes: Kubernetes, resources: Resources = {}): KubernetesSpec {
  const { image, namespace, labels, service_account: serviceAccount, queue_name: queueName } = kubernetes
  const { cpus, gpus, memory_mb: memoryMb } = resources
  const memory: Record<string, string> = memoryMb === undefined ? {} : { memory: `${memoryMb}Mi` }
  const requests: Record<string, string> = {
    ...(cpus !== undefined && { cpu: String(cpus) }),
    ...memory,
    ...quantities(kubernetes.requests),
  }
  const limits: Record<string, string> = {
    ...memory,
    ...(gpus !== undefined && { 'nvidia.com/gpu': String(gpus) }),
    ...quantities(kubernetes.limits),
  }
  const asked = {
    ...(Object.keys(requests).length > 0 && { requests }),
    ...(Object.keys(limits).length > 0 && { limits }),
  }
  return {
    image,
    ...(namespace && { namespace }),
    ...(Object.keys(asked).length > 0 && { resources: asked }),
    ...(labels && { labels }),
    ...(serviceAccount && { serviceAccount }),
    ...(queueName && { queueName }),
  }
}

/** Kubernetes writes amounts as text. */
function quantities(amounts: Record<string, string | number> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, String(value)]))
}
