/** The API of the service in a process of its own, with its default settings and its log at level info. */

import { listen, openParts } from '../src/compose.ts'
import { loadConfig } from '../src/config/config.ts'

const [url = '', folder = ''] = process.argv.slice(2)
const config = loadConfig({
  DATABASE_URL: url,
  HOLDFAST_DATA_DIR: `${folder}/data`,
  HOLDFAST_ARTIFACTS_DIR: `${folder}/artifacts`,
  HOLDFAST_PORT: '0',
  HOLDFAST_LOG_FORMAT: 'json',
})
const { app } = await listen(await openParts(config, url, 'api'))
process.on('disconnect', () => process.exit())
process.send?.({ port: (app.server.address() as { port: number }).port })
