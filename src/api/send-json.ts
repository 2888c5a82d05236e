/** Answers with JSON. The text is made here: the framework's own way of making it needs a schema to be quick. */

import type { FastifyReply } from 'fastify'

const JSON_TYPE = 'application/json; charset=utf-8'

export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.header('Content-Type', JSON_TYPE).send(JSON.stringify(value))
}

/** No cache may keep it: it names tokens, sessions, or who did what. */
export function sendPrivate(reply: FastifyReply, value: unknown): FastifyReply {
  return sendJson(reply.header('Cache-Control', 'no-store'), value)
}
