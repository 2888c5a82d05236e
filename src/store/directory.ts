/** Models, queues and workers as the port tells them. */

import type pg from 'pg'
import { listModels, readModel } from './list-models.ts'
import { listQueues, readQueue, setPaused } from './list-queues.ts'
import { listWorkers } from './list-workers.ts'
import type { Directory } from './ports/directory.ts'
import { registerModel } from './register-model.ts'
import { setQueue } from './set-queue.ts'

export function createDirectory(pool: pg.Pool, answered: <T>(asked: Promise<T>) => Promise<T>): Directory {
  return {
    models: (page) => answered(listModels(pool, page)),
    model: (name, version) => answered(readModel(pool, name, version)),
    registerModel: (definition, queues, actor) => answered(registerModel(pool, definition, queues, actor)),
    queues: (page) => answered(listQueues(pool, page)),
    queue: (name) => answered(readQueue(pool, name)),
    setPaused: (queue, paused, actor) => answered(setPaused(pool, queue, paused, actor)),
    setQueue: (queue, settings, actor) => answered(setQueue(pool, queue, settings, actor)),
    workers: (page) => answered(listWorkers(pool, page)),
  }
}
