/**
 * One upload by the tus protocol: begun once, sent in pieces, and taken up where the service says it stands after every fault.
 *
 * A fault that may pass, such as a lost connection or a restart of the service, costs a pause; the upload ends only when nothing has
 * arrived for `patienceMs`. What has arrived is kept by the service, so a later call with its id goes on from there.
 */

import { HoldfastError, MaxRetriesExceeded, Transient } from './errors.ts'
import type { Answer, Call, CallOptions, Transport } from './transport.ts'
import type { Sized } from './upload-source.ts'
import type { ResumableUploadState, Upload, UploadWarnings } from './wire-files.ts'

const PIECE_BYTES = 8 * 1024 * 1024
const PATIENCE_MS = 5 * 60_000
const PAUSE_MS_MIN = 500
const PAUSE_MS_MAX = 15_000
const VERSION = { 'Tus-Resumable': '1.0.0' }
const BYTES_TYPE = 'application/offset+octet-stream'

export type ResumableOptions = CallOptions & {
  /** Of one request; 8 MiB when not given. */
  pieceBytes?: number | undefined
  /** How long nothing may arrive before the upload is given up; 5 minutes when not given. */
  patienceMs?: number | undefined
  onProgress?: ((progress: { sent: number; total: number }) => void) | undefined
}

/** What is known of an upload that has not ended, for who wants to go on with it. */
export type Standing = { uploadId: string | null; received: number; keptUntil: string | null }

export class ResumableUpload {
  readonly standing: Standing
  readonly #transport: Transport
  readonly #source: Sized
  readonly #metadata: Record<string, string>
  readonly #options: ResumableOptions
  #heardMs: number
  #failures = 0
  #warnings: UploadWarnings = { quota_warnings: [], cost_limit_warning: null }

  constructor(
    transport: Transport,
    source: Sized,
    metadata: Record<string, string>,
    options: ResumableOptions & { resume?: string | null | undefined },
  ) {
    this.#transport = transport
    this.#source = source
    this.#metadata = metadata
    this.#options = options
    this.standing = { uploadId: options.resume ?? null, received: 0, keptUntil: null }
    this.#heardMs = transport.clock.nowMs()
  }

  /** What it became. `onBegun` hears the id as soon as there is one. */
  async send(onBegun: (uploadId: string) => void): Promise<Upload & UploadWarnings> {
    if (this.standing.uploadId === null || !(await this.#isKnown())) await this.#begin()
    onBegun(this.standing.uploadId!)
    const { size } = this.#source
    while (this.standing.received < size) {
      await this.#piece()
      this.#options.onProgress?.({ sent: this.standing.received, total: size })
    }
    // The service says that all has arrived only when it has become a file.
    const { upload } = await this.#state()
    if (upload) return { ...upload, ...this.#warnings }
    throw new HoldfastError('The service has all bytes and no file of them.')
  }

  async #begin(): Promise<void> {
    const text = Object.entries(this.#metadata).map(([name, value]) => `${name} ${base64(value)}`)
    const headers = { ...VERSION, 'Upload-Length': String(this.#source.size), 'Upload-Metadata': text.join(',') }
    // Sent twice after a lost reply it leaves an empty upload behind, which expires.
    const answer = await this.#transport.send(this.#call('POST', '/uploads', headers))
    const uploadId = /\/uploads\/([^/?#]+)$/.exec(answer.headers.get('location') ?? '')?.[1]
    if (!uploadId) throw new HoldfastError('The service began an upload and did not say where.')
    this.standing.uploadId = decodeURIComponent(uploadId)
    this.#warnings = warningsIn(answer)
    this.#stands(placeIn(answer))
  }

  /** False when it has expired meanwhile, or is another file. */
  async #isKnown(): Promise<boolean> {
    try {
      const { size, received, expires_at: keptUntil } = await this.#state()
      if (size !== this.#source.size) return false
      this.#stands({ received, keptUntil })
      return true
    } catch (fault) {
      if (fault instanceof HoldfastError && fault.status === 404) return false
      throw fault
    }
  }

  /** When it does not arrive, or not as a whole, it is known from where to go on. */
  async #piece(): Promise<void> {
    const { received } = this.standing
    const { pieceBytes = PIECE_BYTES } = this.#options
    const data = await this.#source.read(received, Math.min(this.#source.size, received + pieceBytes))
    try {
      const call = this.#call('PATCH', this.#path(), { ...VERSION, 'Upload-Offset': String(received) })
      const answer = await this.#transport.send({ ...call, retries: 0, bytes: { type: BYTES_TYPE, data } })
      this.#warnings = warningsIn(answer)
      this.#stands(placeIn(answer))
    } catch (fault) {
      await this.#bear(fault)
    }
  }

  /** Waits and asks how far it has come. Throws what waiting does not help. */
  async #bear(fault: unknown): Promise<void> {
    const { signal, patienceMs = PATIENCE_MS } = this.#options
    signal?.throwIfAborted()
    // 409: it stands elsewhere than we thought. An earlier request of ours, whose reply was lost, may still have brought something.
    const isElsewhere = fault instanceof HoldfastError && fault.status === 409
    if (!isElsewhere && !(fault instanceof Transient)) throw fault
    const { clock } = this.#transport
    for (;;) {
      if (clock.nowMs() - this.#heardMs > patienceMs) throw fault
      await clock.sleep(Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** this.#failures), signal)
      this.#failures += 1
      try {
        const { received, expires_at: keptUntil } = await this.#state(0)
        return this.#stands({ received, keptUntil })
      } catch (again) {
        if (!(again instanceof MaxRetriesExceeded)) throw again
      }
    }
  }

  async #state(retries?: number): Promise<ResumableUploadState> {
    return (await this.#transport.send({ ...this.#call('GET', this.#path(), {}), retries }))
      .body as ResumableUploadState
  }

  #stands({ received, keptUntil }: { received: number; keptUntil: string | null }): void {
    if (received > this.standing.received) {
      this.#heardMs = this.#transport.clock.nowMs()
      this.#failures = 0
    }
    this.standing.received = received
    this.standing.keptUntil = keptUntil ?? this.standing.keptUntil
  }

  #call(method: 'POST' | 'GET' | 'PATCH', path: string, headers: Record<string, string>): Call {
    const { signal, timeoutMs } = this.#options
    return { method, path, headers, repeat: 'always', signal, timeoutMs }
  }

  #path(): string {
    return `/uploads/${encodeURIComponent(this.standing.uploadId!)}`
  }
}

function placeIn({ headers }: Answer): { received: number; keptUntil: string | null } {
  const text = headers.get('upload-offset') ?? ''
  if (!/^\d+$/.test(text)) throw new HoldfastError('The service does not say how much of the upload has arrived.')
  const expiresMs = Date.parse(headers.get('upload-expires') ?? '')
  return { received: Number(text), keptUntil: Number.isNaN(expiresMs) ? null : new Date(expiresMs).toISOString() }
}

/** Of the UTF-8 bytes. */
function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}

/** They come with the last byte, in headers, and are lost when that answer is. */
function warningsIn({ headers }: Answer): UploadWarnings {
  const quota: unknown = JSON.parse(headers.get('holdfast-quota-warnings') ?? '[]')
  return {
    quota_warnings: Array.isArray(quota) ? quota.map(String) : [],
    cost_limit_warning: headers.get('holdfast-cost-limit-warning'),
  }
}
