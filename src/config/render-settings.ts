/**
 * The table of settings as people read it: `docs/config.md` and `.env.example`. A test holds both files to this text.
 */

import { ALL_SETTINGS, type Setting } from './settings.ts'

const ENV_EXAMPLE_TOP =
  '# Settings of Holdfast with their defaults; see docs/config.md. Set what you want to change in the environment.'

export function renderConfigPage(): string {
  const sections = groups().map(([name, rows]) => [`## ${name}`, '', ...table(rows), ''].join('\n'))
  return `# Configuration

Holdfast is configured by environment variables, read once when a process starts. A value that cannot be used, and a
name that begins with \`HOLDFAST_\` and is no setting, stop the start with a list of everything that is wrong. An empty
variable counts as unset. Units are part of the names; seconds may have fractions.

This page is generated from \`src/config/settings.ts\`: \`UPDATE_GOLDEN=1 npx vitest run src/config\` writes it anew.

${sections.join('\n')}`
}

export function renderEnvExample(): string {
  const sections = groups().map(([name, rows]) => [`## ${name}`, ...rows.flatMap(exampleLines)].join('\n'))
  return `${ENV_EXAMPLE_TOP}\n\n${sections.join('\n\n')}\n`
}

function table(rows: Setting[]): string[] {
  const lines = rows.map(
    ({ env, default: value, about }) => `| \`${env}\` | ${value ? `\`${value}\`` : '—'} | ${about} |`,
  )
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...lines]
}

function exampleLines({ env, default: value, about }: Setting): string[] {
  return [`# ${about}`, `# ${env}=${value ?? ''}`]
}

function groups(): [string, Setting[]][] {
  return Object.entries(Object.groupBy(ALL_SETTINGS, ({ group }) => group)) as [string, Setting[]][]
}
