/** The settings of the kubernetes executor; part of the table in `settings.ts`. */

import { integer, plainText, seconds } from './value-kinds.ts'

const DAY = 86_400

export const KUBERNETES_ROWS = {
  connection: {
    env: 'HOLDFAST_KUBERNETES',
    default: 'off',
    about:
      'The cluster for models that run as Kubernetes Jobs: off, in-cluster (the service account of the pod the worker runs in), kubeconfig (what KUBECONFIG names, else ~/.kube/config), or the path of a kubeconfig file. Needs HOLDFAST_PUBLIC_URL.',
    kind: plainText(),
  },
  context: {
    env: 'HOLDFAST_KUBERNETES_CONTEXT',
    default: null,
    about: 'Context of the kubeconfig; without it, its current one.',
    kind: plainText(),
  },
  namespace: {
    env: 'HOLDFAST_KUBERNETES_NAMESPACE',
    default: null,
    about: 'Namespace for Jobs of models that name none; without it, that of the service account or of the context.',
    kind: plainText(),
  },
  jobsMax: {
    env: 'HOLDFAST_KUBERNETES_JOBS_MAX',
    default: '50',
    about: 'Kubernetes Jobs one worker process has at once.',
    kind: integer(1, 10_000),
  },
  keepSeconds: {
    env: 'HOLDFAST_KUBERNETES_KEEP_SECONDS',
    default: '3600',
    about: 'How long a finished Job and its pod stay to be looked at. Longer than a worker may be away, at least.',
    kind: integer(60, 30 * DAY),
  },
  lostSeconds: {
    env: 'HOLDFAST_KUBERNETES_LOST_SECONDS',
    default: '300',
    about: 'How long a Job must be gone before its attempt is given up.',
    kind: seconds(0.1, DAY),
  },
  stuckSeconds: {
    env: 'HOLDFAST_KUBERNETES_STUCK_SECONDS',
    default: '120',
    about: 'How long a pod may be unable to start, for want of its image say, before its attempt fails.',
    kind: seconds(0.1, DAY),
  },
  requestSeconds: {
    env: 'HOLDFAST_KUBERNETES_REQUEST_SECONDS',
    default: '15',
    about: 'How long the Kubernetes API server may take to answer.',
    kind: seconds(0.1, 600),
  },
}
