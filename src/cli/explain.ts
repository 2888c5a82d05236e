/** Says an error to a person at a terminal: the message, its causes and, for the usual ones, the next step. */

export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = (error as { code?: string }).code
  const hint = code === undefined ? undefined : HINTS[code]
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error && causes.length < 3; cause = cause.cause)
    causes.push(cause.message)
  const message = error.message || (error instanceof AggregateError ? error.errors.map(explain).join('; ') : error.name)
  return [message, ...causes.map((cause) => `  because: ${cause}`), ...(hint ? [`  ${hint}`] : [])].join('\n')
}

const HINTS: Record<string, string> = {
  EADDRINUSE: 'Another program listens there. Stop it, or set HOLDFAST_PORT to another port (0 takes any free one).',
  ECONNREFUSED: 'Nothing answers there. Is the database running, and DATABASE_URL right?',
  ENOTFOUND: 'The host name is unknown. Check DATABASE_URL.',
  '28P01': 'The database refused the password in DATABASE_URL.',
  '3D000': 'Create the database first, or correct its name in DATABASE_URL.',
}
