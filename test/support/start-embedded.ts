/** A program for tests: starts an embedded server in the folder given, prints it as one JSON line, and waits to be killed. */

import { startEmbeddedPostgres } from '../../src/store/embedded/embedded.ts'

const dataDir = process.argv[2]
if (!dataDir) throw new Error('usage: start-embedded.ts <data folder>')
const { url, pid } = await startEmbeddedPostgres({ dataDir, log: (line) => console.error(line) })
console.log(JSON.stringify({ url, pid }))
