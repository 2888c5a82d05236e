/** The environment of a child: an allow-list, so that no secret of the service reaches the code of a model by accident. */

const ALLOWED = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR']
const NEVER = ['DATABASE_URL', 'REDIS_URL', 'HOLDFAST_TOKEN']

/** `names` are allowed in addition. Throws for a name that holds the service's own credentials. */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  names: readonly string[] = [],
): Record<string, string> {
  const refused = names.find((name) => NEVER.includes(name))
  if (refused) throw new Error(`${refused} is never given to the code of a model; give it a credential of its own`)
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(source)) {
    const allowed = ALLOWED.includes(name) || name.startsWith('LC_') || names.includes(name)
    if (allowed && value !== undefined) environment[name] = value
  }
  return environment
}
