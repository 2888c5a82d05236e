/**
 * Makes HTTP load over kept-alive connections, one request at a time on each. It reads just enough of an answer to know where it ends,
 * so that the load costs little of the machine it shares with what it measures.
 */

import { connect, type Socket } from 'node:net'

export type Load = {
  port: number
  connections: number
  seconds: number
  /** The whole request, head and body. */
  request: () => Buffer
  expectedStatus: number
}

export type Loaded = { perSecond: number; p50Ms: number; p99Ms: number }

export async function makeLoad(load: Load): Promise<Loaded> {
  const latenciesMs: number[] = []
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.port)))
  const startedAtMs = performance.now()
  const endAtMs = startedAtMs + load.seconds * 1_000
  await Promise.all(sockets.map((socket) => askUntil(socket, endAtMs, load, latenciesMs)))
  const seconds = (performance.now() - startedAtMs) / 1_000
  for (const socket of sockets) socket.destroy()
  latenciesMs.sort((a, b) => a - b)
  const at = (share: number) => latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))]!
  return { perSecond: latenciesMs.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

function askUntil(socket: Socket, endAtMs: number, load: Load, latenciesMs: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let askedAtMs = 0
    let answer = ''
    const ask = () => {
      answer = ''
      askedAtMs = performance.now()
      socket.write(load.request())
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`the server closed a connection; it had said ${answer.slice(0, 500)}`)))
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1')
      const length = answerLength(answer)
      if (length === null || answer.length < length) return
      if (!answer.startsWith(`HTTP/1.1 ${load.expectedStatus} `)) {
        reject(new Error(`expected ${load.expectedStatus}, was answered ${answer.slice(0, 500)}`))
        return
      }
      const nowMs = performance.now()
      latenciesMs.push(nowMs - askedAtMs)
      if (nowMs < endAtMs) ask()
      else {
        socket.removeAllListeners('close')
        resolve()
      }
    })
    ask()
  })
}

/** Head and body together; null while the head has not arrived whole. */
function answerLength(answer: string): number | null {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.slice(0, headEnd))
  if (!length) throw new Error(`an answer without content-length: ${answer.slice(0, 300)}`)
  return headEnd + 4 + Number(length[1])
}
