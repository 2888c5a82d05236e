/** The settings of an S3-compatible store for large values; part of the table in `settings.ts`. */

import { z } from 'zod'
import { oneOf, plainText, url } from './value-kinds.ts'

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX = /^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*\/?$/

export const S3_ROWS = {
  bucket: {
    env: 'S3_BUCKET',
    default: null,
    about:
      'Bucket for files, large results, outputs of steps and logs. Set, it is used instead of HOLDFAST_ARTIFACTS_DIR.',
    kind: z.string().regex(BUCKET, 'must be the name of a bucket, e.g. holdfast'),
  },
  endpoint: {
    env: 'S3_ENDPOINT',
    default: null,
    about: 'Address of the S3-compatible server. Without it, Amazon S3 in the region.',
    kind: url(['http:', 'https:'], 'https://s3.example.org'),
  },
  region: {
    env: 'S3_REGION',
    default: 'us-east-1',
    about: 'Region of the bucket. Most other servers take any.',
    kind: plainText(),
  },
  accessKeyId: {
    env: 'S3_ACCESS_KEY_ID',
    default: null,
    about:
      'Access key, together with S3_SECRET_ACCESS_KEY. Without both, credentials come from where AWS tools look for them: AWS_* variables, shared files, the role of the machine or pod.',
    kind: plainText(),
  },
  secretAccessKey: {
    env: 'S3_SECRET_ACCESS_KEY',
    default: null,
    about: 'Secret of the access key.',
    kind: plainText(),
    secret: true,
  },
  prefix: {
    env: 'S3_PREFIX',
    default: null,
    about: 'Folder in the bucket, for several installations in one.',
    kind: z.string().regex(PREFIX, 'must be a folder such as holdfast/production'),
  },
  pathStyle: {
    env: 'S3_PATH_STYLE',
    default: 'auto',
    about:
      'true: the bucket is part of the path. false: it is part of the host name. auto: true with S3_ENDPOINT, else false.',
    kind: oneOf(['auto', 'true', 'false']),
  },
}
