/**
 * The catalogue of errors: what the API refuses with, and what Holdfast itself records on attempts. `docs/errors.md`
 * lists the same.
 *
 * A code never changes its meaning. `retryable` says that the same request, sent again unchanged, may succeed.
 */

export type ErrorEntry = {
  /** HTTP status. */
  status: number
  title: string
  retryable: boolean
  /** What to do next. */
  next: string
}

const entry = (status: number, title: string, next: string): ErrorEntry => ({ status, title, retryable: false, next })
const passing = (status: number, title: string, next: string): ErrorEntry => ({ status, title, retryable: true, next })

export const ERRORS = {
  'invalid-json': entry(400, 'The body is not acceptable JSON', 'Correct the text at the pointer and send it again.'),
  'invalid-body': entry(400, 'The body does not have the expected shape', 'Correct the fields the pointers name.'),
  'invalid-header': entry(400, 'A request header is malformed', 'Correct the header that the detail names.'),
  'invalid-query': entry(400, 'A query parameter is not valid', 'Correct the query parameter that the detail names.'),
  'idempotency-key-invalid': entry(
    400,
    'The idempotency key is not valid',
    'Use 1 to 255 printable ASCII characters, in one header line.',
  ),
  'idempotency-key-mismatch': entry(
    400,
    'Header and body name different idempotency keys',
    'Send the key in one place, or the same key in both.',
  ),
  unauthorized: entry(
    401,
    'An access token is needed',
    'Send a valid token as "Authorization: Bearer hf_…"; "holdfast token create" makes one.',
  ),
  forbidden: entry(
    403,
    'The access token may not do this',
    'Use a token with the role that needed_role names, or ask an administrator for one.',
  ),
  'cross-site-request': entry(
    403,
    'Requests from other web sites are refused',
    'Call the API from a program, or from a page of the same origin.',
  ),
  'host-not-allowed': entry(
    403,
    'The Host header names another host',
    'Without tokens, use localhost, 127.0.0.1 or [::1]; create tokens to serve other hosts.',
  ),
  'forwarded-header': entry(
    403,
    'Forwarded requests are refused without tokens',
    'Call the service directly, or create tokens before putting a proxy in front of it.',
  ),
  'quota-exceeded': entry(
    403,
    'A quota is used up',
    'Wait until a run of holders has ended or the window has moved on, or ask an administrator for a higher quota.',
  ),
  'cost-limit-exceeded': entry(
    403,
    'A cost limit is used up',
    'Wait for the next day or month in UTC, submit something cheaper, or ask an administrator for a higher limit.',
  ),
  'unknown-model': entry(
    404,
    'No such model',
    'Check the name; a worker that offers the model must have started once.',
  ),
  'unknown-model-version': entry(
    404,
    'No such version of the model',
    'Name a registered version, or leave the version out for the newest.',
  ),
  'queue-not-found': entry(
    404,
    'No such queue',
    'Check the name; a queue exists once a worker serves it or a model names it.',
  ),
  'run-not-found': entry(404, 'No such run', 'Check the run id; runs of other owners are not shown.'),
  'artifact-not-found': entry(
    404,
    'No such output file',
    'List the output files of the run; those of an attempt are there once it has ended.',
  ),
  'no-such-file': entry(
    404,
    'No such file',
    'Check the id; files of other owners are not shown, and knowing the digest of a file is no right to it.',
  ),
  'batch-not-found': entry(404, 'No such batch', 'Check its id; batches of other owners are not shown.'),
  'upload-not-found': entry(
    404,
    'No such resumable upload',
    'Begin a new one; an upload is forgotten when nothing was sent for a while, and those of other owners are not shown.',
  ),
  'bulk-not-found': entry(
    404,
    'No such bulk operation',
    'Check its id; operations on runs of other owners are not shown.',
  ),
  'token-not-found': entry(404, 'No such token', 'Check the id; "holdfast token list" shows every token.'),
  'quota-not-found': entry(
    404,
    'No such quota',
    'Check owner, model and together; "holdfast quota list" shows every rule.',
  ),
  'reservation-not-found': entry(
    404,
    'No such reservation',
    'Check its id; reservations of other owners are not shown, and ended ones are forgotten after a while.',
  ),
  'delivery-not-found': entry(
    404,
    'No such delivery',
    'Check its id; those of other owners are not shown, and ended ones are forgotten after a while.',
  ),
  'view-not-found': entry(404, 'No such view', 'Check its id; views of others are shown only when they are shared.'),
  'recipient-not-found': entry(
    404,
    'No such mail address',
    'Check its id; mail addresses of other owners are not shown.',
  ),
  'unsubscribe-link-invalid': entry(
    404,
    'The link to unsubscribe is not valid',
    'Open the link of the mail once more, whole; or ask whoever runs the service.',
  ),
  'webhook-not-found': entry(404, 'No such webhook', 'Check its id; webhooks of other owners are not shown.'),
  'not-found': entry(404, 'Nothing is here', 'Check the path.'),
  'method-not-allowed': entry(405, 'The method is not allowed here', 'Use one of the methods in the Allow header.'),
  'request-timeout': passing(
    408,
    'The request took too long to arrive',
    'Send it again, with the same idempotency key.',
  ),
  'idempotency-key-reused': entry(
    409,
    'The idempotency key was used with another payload',
    'Use a new key for a new payload, or send the first payload again.',
  ),
  'lease-lost': entry(
    409,
    'The lease is lost',
    'Stop the work and say nothing more about it; the run may be with another worker.',
  ),
  'file-in-use': entry(
    409,
    'The file is in use',
    'Keep it: a run of this owner has it among its parameters and could not be reproduced without it.',
  ),
  'run-not-complete': passing(409, 'The run is not complete', 'Ask again when the run has ended.'),
  'run-failed': entry(
    409,
    'The run failed and has no result',
    'Read the error of the run, then retry it as a new run.',
  ),
  'run-cancelled': entry(
    409,
    'The run was cancelled and has no result',
    'Submit it again if the result is still wanted.',
  ),
  'run-already-finished': entry(
    409,
    'The run has already ended',
    'Nothing is left to do; a finished run never changes.',
  ),
  'run-not-finished': passing(
    409,
    'The run has not ended yet',
    'Wait until it has ended, or cancel it; only a finished run can be retried.',
  ),
  'not-waiting-for-approval': entry(
    409,
    'The run does not wait for approval',
    'Read the run; "GET /runs?waiting=approval" lists those that wait.',
  ),
  'concurrency-limit': passing(
    409,
    'The concurrency key has no place left',
    'Send it again when one of holders has ended, or use another mode or key.',
  ),
  'no-steps': entry(409, 'The run has no steps', 'Retry it from the start.'),
  'model-not-registered': entry(
    409,
    'The version of the model is no longer registered',
    'Start a worker that offers it, or submit a new run of another version.',
  ),
  'cursor-lost': entry(
    410,
    'The place in the feed is not known any more',
    'Go on from resume_after; events seen already have the same run_id and seq.',
  ),
  'model-registered-otherwise': entry(
    409,
    'The model is registered for other workers',
    'Lease it as it is registered, or register another version.',
  ),
  'reservation-not-active': entry(
    409,
    'The reservation is not active any more',
    'Make a new reservation, or submit without one; a reservation is good for one run and until it expires.',
  ),
  'delivery-busy': passing(
    409,
    'The delivery has not ended',
    'Wait: it is tried by itself until it arrives or is given up, and can be sent again then.',
  ),
  'batch-taken': entry(409, 'The batch belongs to another owner', 'Use another id, or none to get a new one.'),
  'upload-offset': passing(
    409,
    'The upload does not go on there',
    'Ask for Upload-Offset with HEAD and go on from there; one request at a time may send to an upload.',
  ),
  'upload-limit': passing(
    409,
    'There are too many unfinished uploads',
    'Finish or delete some of them; what nothing is sent to is forgotten after a while.',
  ),
  'view-exists': entry(409, 'There is a view of that name', 'Choose another name, or replace the view that has it.'),
  'view-limit': entry(409, 'There are too many views', 'Delete views that are not needed any more.'),
  'recipient-disabled': entry(
    409,
    'No mail goes to this address',
    'Put the address under its recipients again, if its reader wants that.',
  ),
  'recipient-limit': entry(409, 'There are too many mail addresses', 'Delete addresses that are not needed any more.'),
  'webhook-disabled': entry(409, 'The webhook is disabled', 'Enable it with PATCH, then send the test again.'),
  'webhook-limit': entry(409, 'There are too many webhooks', 'Delete webhooks that are not needed any more.'),
  'tus-version': entry(412, 'This version of tus is not spoken here', 'Send the header "Tus-Resumable: 1.0.0".'),
  'body-too-large': entry(413, 'The body is too large', 'Send less, or put large inputs elsewhere and name them.'),
  'file-too-large': entry(413, 'The file is too large', 'Send a smaller file, or ask for a higher limit.'),
  'too-many-files': entry(413, 'There are too many files in one request', 'Send the rest in further requests.'),
  'unsupported-media-type': entry(
    415,
    'The content type is not supported',
    'Send application/json without content encoding.',
  ),
  'range-not-satisfiable': entry(
    416,
    'The file does not have these bytes',
    'Ask for a range within the size that Content-Range names.',
  ),
  'invalid-parameters': entry(
    422,
    'The parameters do not fit the model',
    'Correct the parameters that the pointers name.',
  ),
  'cost-not-computable': entry(
    422,
    'The cost cannot be computed for these parameters',
    'Correct the parameters, or ask who wrote the model for a formula that holds for them.',
  ),
  'file-not-found': entry(
    422,
    'A parameter names a file that the owner does not have',
    'Upload the file, then send the request again.',
  ),
  'model-takes-no-file': entry(
    422,
    'The model does not take one file',
    'Upload without a model, then submit a run that names the file where the model wants it.',
  ),
  'redaction-marker': entry(
    422,
    'A parameter is the redaction marker',
    'Send the real value, or name the run whose hidden value it stands for in derived_from.',
  ),
  'webhook-url-refused': entry(
    422,
    'Nothing may be sent to this URL',
    'Use https at a host of the public internet, or ask an operator to allow the host with HOLDFAST_WEBHOOK_ALLOW.',
  ),
  'override-not-allowed': entry(
    422,
    'The model does not allow this setting',
    'Leave the field out, or choose a value that the model declares.',
  ),
  'step-conflict': entry(
    422,
    'The step has another output already',
    'Use the output that the lease named, or another name for another step.',
  ),
  'step-limit': entry(
    422,
    'The run has too many steps or too much of their outputs',
    'Do more in one step, or return less from each.',
  ),
  'rate-limited': passing(
    429,
    'Too many requests',
    'Send it again after Retry-After, with the same idempotency key; slow down before RateLimit says r=0.',
  ),
  'internal-error': passing(
    500,
    'Something went wrong inside the service',
    'Send it again, with the same idempotency key; report the request id if it stays.',
  ),
  'result-missing': entry(
    500,
    'The stored result cannot be found',
    'Restore the artifacts folder from a backup, or retry the run as a new run.',
  ),
  'artifact-missing': entry(
    500,
    'The stored output file cannot be found',
    'Restore the artifacts folder from a backup, or retry the run as a new run.',
  ),
  'file-missing': entry(
    500,
    'The stored bytes of the file cannot be found',
    'Upload the file again, or restore the artifacts folder from a backup.',
  ),
  busy: passing(503, 'The service is busy', 'Send it again after Retry-After, with the same idempotency key.'),
  'database-unavailable': passing(
    503,
    'The database cannot be reached',
    'Send it again after Retry-After, with the same idempotency key.',
  ),
  'storage-unavailable': passing(503, 'The store of files cannot be reached', 'Send it again after Retry-After.'),
  'shutting-down': passing(503, 'The service is shutting down', 'Send it again after Retry-After.'),
  'storage-full': passing(
    507,
    'There is no room left for files',
    'Make room on the artifacts disk, then send it again.',
  ),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

/** The `type` of a problem: stable, and never a promise that something answers there. */
export function problemType(code: ErrorCode): string {
  return `urn:holdfast:error:${code}`
}

export type FieldError = { pointer: string; detail: string }

/** A request refused by the rules. `detail` is for a person, `extra` are more fields of the problem. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly detail: string
  readonly errors: FieldError[] | undefined
  readonly extra: Record<string, unknown> | undefined

  constructor(
    code: ErrorCode,
    detail: string,
    options: { errors?: FieldError[]; extra?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(detail, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'Refusal'
    this.code = code
    this.detail = detail
    this.errors = options.errors
    this.extra = options.extra
  }
}

export type AttemptErrorEntry = {
  meaning: string
  /** false: the run fails at once. true: the retry policy decides. */
  retryable: boolean
}

const retried = (meaning: string): AttemptErrorEntry => ({ meaning, retryable: true })
const final = (meaning: string): AttemptErrorEntry => ({ meaning, retryable: false })

/**
 * The error classes Holdfast records on attempts itself; every other class is the name of an error thrown by a model.
 */
export const ATTEMPT_ERRORS = {
  Timeout: retried('The attempt took longer than its timeout and was ended.'),
  WorkerLost: retried('The lease expired: the worker died, froze or lost its connection.'),
  ProcessCrashed: retried('The child process ended before the attempt did: an exit, a signal or a crash.'),
  OutOfMemory: retried('The JavaScript heap of the child process was full.'),
  MemoryLimit: retried('The child process used more resident memory than allowed and was ended.'),
  ResultNotJson: final('The model returned a value that JSON cannot carry.'),
  ResultTooLarge: final('The result is larger than the service accepts.'),
  ParametersRefused: final('The schema of the model refused the stored parameters in the worker.'),
  ModelNotOffered: retried('The worker or its child process does not have the model in this version.'),
  ExecutorNotAllowed: retried('The model, as this worker has it, does not run on the executor of the run.'),
  ArtifactStoreFull: retried('The result could not be stored because the artifacts disk is full.'),
  ArtifactStoreFailed: retried('The result could not be stored: the store does not answer, or refused it.'),
  InputFileUnavailable: retried('A file among the parameters could not be had from where it is stored.'),
  InputFileDamaged: retried('The stored bytes of a file among the parameters are not those that were uploaded.'),
  InputFolderFull: retried('The worker has no room for a copy of the files among the parameters.'),
  Cancelled: final('The run was cancelled while the attempt was running.'),
} as const satisfies Record<string, AttemptErrorEntry>

export type AttemptErrorClass = keyof typeof ATTEMPT_ERRORS
