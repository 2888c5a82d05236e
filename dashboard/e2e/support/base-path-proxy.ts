/**
 * A proxy that puts a path in front of the service, as `location /tools/holdfast/ { proxy_pass http://…/; }` does:
 * it strips the path and no more.
 */

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export type BasePathProxy = { url: string; close(): Promise<void> }

export async function startBasePathProxy(target: string, basePath: string): Promise<BasePathProxy> {
  const { hostname, port } = new URL(target)
  const server = createServer((asked, answer) => {
    if (!asked.url?.startsWith(`${basePath}/`)) return answer.writeHead(404).end('outside of the base path')
    const path = asked.url.slice(basePath.length)
    const passed = request({ hostname, port, path, method: asked.method, headers: asked.headers }, (given) => {
      answer.writeHead(given.statusCode!, given.headers)
      given.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
