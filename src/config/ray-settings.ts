/** The settings of the Ray executor and of Ray pools; part of the table in `settings.ts`. */

import { integer, namedTexts, namedUrls, plainText, rayPools, seconds } from './value-kinds.ts'

const DAY = 86_400

export const RAY_ROWS = {
  clusters: {
    env: 'HOLDFAST_RAY_CLUSTERS',
    default: '',
    about:
      'Ray clusters by name, with the address of their dashboard: `default=http://127.0.0.1:8265,gpu=https://ray.example.org`. Without it there is no Ray executor. Models choose one by name; none can name an address.',
    kind: namedUrls(['http:', 'https:'], 'default=http://127.0.0.1:8265'),
  },
  tokenFiles: {
    env: 'HOLDFAST_RAY_TOKEN_FILES',
    default: '',
    about:
      'Files that hold the access tokens of clusters, by name: `default=/run/secrets/ray-token`. Read again when they change.',
    kind: namedTexts('default=/run/secrets/ray-token'),
  },
  token: {
    env: 'HOLDFAST_RAY_TOKEN',
    default: null,
    about: 'Access token of every cluster that has no file of its own.',
    kind: plainText(),
    secret: true,
  },
  jobsMax: {
    env: 'HOLDFAST_RAY_JOBS_MAX',
    default: '20',
    about: 'Ray jobs one worker process has at once; each costs the head node of its cluster a process of about 85 MB.',
    kind: integer(1, 10_000),
  },
  pollSeconds: {
    env: 'HOLDFAST_RAY_POLL_SECONDS',
    default: '2',
    about:
      'Longest time between two looks at a job. Jobs say how they ended by themselves; this finds those that cannot.',
    kind: seconds(0.05, 3_600),
  },
  lostSeconds: {
    env: 'HOLDFAST_RAY_LOST_SECONDS',
    default: '300',
    about:
      'How long a job must be unknown to its cluster, or a cluster deaf to a new job, before the attempt is given up.',
    kind: seconds(0.1, DAY),
  },
  requestSeconds: {
    env: 'HOLDFAST_RAY_REQUEST_SECONDS',
    default: '10',
    about: 'How long a cluster may take to answer a question; submitting and logs have three times as long.',
    kind: seconds(0.1, 600),
  },
  pools: {
    env: 'HOLDFAST_RAY_POOLS',
    default: '',
    about:
      'Ray pools to keep running, one for each queue, with the number of actors and perhaps the cluster: `default:4,gpu:2@gpu`. See docs/executors/ray.md.',
    kind: rayPools(),
  },
  poolTokenFile: {
    env: 'HOLDFAST_RAY_POOL_TOKEN_FILE',
    default: null,
    about:
      'File on the nodes of the cluster with the access token (role worker) that pools present to the service. Not needed while the service is open.',
    kind: plainText(),
  },
}
