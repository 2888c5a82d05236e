/** JSON that no cache may keep: it names tokens, sessions, or who did what. */

import type { FastifyReply } from 'fastify'

export function sendPrivate(reply: FastifyReply, value: unknown): FastifyReply {
  reply.header('Cache-Control', 'no-store').header('Content-Type', 'application/json; charset=utf-8')
  return reply.send(JSON.stringify(value))
}
