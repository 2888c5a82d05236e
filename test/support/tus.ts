/** A client of tus for tests: single requests by hand, and whole uploads by the library that people use. */

import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import * as tus from 'tus-js-client'

export const TUS = { 'tus-resumable': '1.0.0' }
export const TUS_BYTES = { ...TUS, 'content-type': 'application/offset+octet-stream' }

export function tusMetadata(metadata: Record<string, string>): string {
  return Object.entries(metadata)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',')
}

export function tusRequests(app: FastifyInstance, more: Record<string, string> = {}) {
  const send = (method: string, url: string, headers: Record<string, string>, payload?: Buffer | string) =>
    app.inject({ method, url, headers: { ...more, ...headers }, payload } as InjectOptions)
  return {
    begin: (bytes: number, metadata: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      send('POST', '/uploads', {
        ...TUS,
        'upload-length': String(bytes),
        'upload-metadata': tusMetadata(metadata),
        ...headers,
      }),
    /** Begins one and answers its path. */
    async begun(bytes: number, metadata: Record<string, string> = {}): Promise<string> {
      const response = await this.begin(bytes, metadata)
      if (response.statusCode !== 201) throw new Error(`refused: ${response.body}`)
      return response.headers.location as string
    },
    send: (path: string, offset: number, bytes: Buffer | string, headers: Record<string, string> = {}) =>
      send('PATCH', path, { ...TUS_BYTES, 'upload-offset': String(offset), ...headers }, bytes),
    head: (path: string) => send('HEAD', path, TUS),
    async offset(path: string): Promise<number> {
      return Number((await send('HEAD', path, TUS)).headers['upload-offset'])
    },
    remove: (path: string) => send('DELETE', path, TUS),
    read: (path: string): Promise<LightMyRequestResponse> => send('GET', path, {}),
  }
}

export type Uploading = { upload: tus.Upload; done: Promise<string> }

/** Sends all of it, by itself again where it stopped. Resolves with the address of the upload. */
export function uploadByTus(bytes: Buffer, options: tus.UploadOptions): Uploading {
  const { promise: done, resolve, reject } = Promise.withResolvers<string>()
  const upload = new tus.Upload(bytes, {
    retryDelays: Array(50).fill(100),
    ...options,
    onSuccess: () => resolve(upload.url!),
    onError: reject,
  })
  upload.start()
  return { upload, done }
}
