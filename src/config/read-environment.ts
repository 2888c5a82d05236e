/** The only place that looks at the environment of this process. */

import { type Config, loadConfig } from './config.ts'

/** `overrides` are settings given on the command line, by the names of the environment; they win. */
export function readEnvironment(overrides: Record<string, string | undefined> = {}): Config {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined)
  return loadConfig({ ...process.env, ...Object.fromEntries(given) })
}

/** All of it, for a child process that is one of ours. */
export function environment(): NodeJS.ProcessEnv {
  return { ...process.env }
}
