/** The least a Fastify service can do with a JSON request: read it and answer. What a submit over HTTP is compared with. */

import { fastify } from 'fastify'

const app = fastify({ logger: false })
app.post('/runs', async (_request, reply) => reply.code(201).send({ accepted: true }))
await app.listen({ host: '127.0.0.1', port: 0 })
process.on('disconnect', () => process.exit())
process.send?.({ port: (app.server.address() as { port: number }).port })
