/** For programs that find the service in their environment: `new Holdfast(fromEnvironment(process.env))`. */

export type Environment = { readonly [name: string]: string | undefined }

const URL_DEFAULT = 'http://localhost:4600'

export function fromEnvironment(env: Environment): { url: string; token: string | undefined } {
  return { url: env.HOLDFAST_URL || URL_DEFAULT, token: env.HOLDFAST_TOKEN || undefined }
}
