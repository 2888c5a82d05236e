/**
 * What the service has against the request, sorted to where it belongs: pointers begin at the body, `/parameters/region` is the parameter
 * `region`, `/queue` the option.
 */

import { memberOf, stepsOf } from './value-path.ts'

export type FieldError = { pointer: string; detail: string }

const PARAMETERS = '/parameters'

/** With pointers that begin at the parameters. */
export function parameterErrors(errors: readonly FieldError[]): FieldError[] {
  return errors
    .filter(({ pointer }) => isWithin(pointer, PARAMETERS))
    .map(({ pointer, detail }) => ({ pointer: pointer.slice(PARAMETERS.length), detail }))
}

/** Of an option such as `queue` or `concurrency`, with what is inside of it. */
export function optionError(errors: readonly FieldError[], name: string): string | null {
  return sentence(errors.filter(({ pointer }) => isWithin(pointer, `/${name}`)))
}

/** For a field that is the last to know: at it and anywhere inside. */
export function errorWithin(errors: readonly FieldError[], pointer: string): string | null {
  const inside = errors.filter((error) => isWithin(error.pointer, pointer))
  return sentence(
    inside.map((error) => {
      const below = error.pointer.slice(pointer.length)
      return below === '' ? error : { ...error, detail: `${stepsOf(below).join(' › ')} ${error.detail}` }
    }),
  )
}

/** For a field that holds others: at it, and inside at names for which there is no field. */
export function errorAround(errors: readonly FieldError[], pointer: string, shown: (step: string) => boolean) {
  const mine = errors.filter((error) => {
    if (!isWithin(error.pointer, pointer)) return false
    const [step] = stepsOf(error.pointer.slice(pointer.length))
    return step === undefined || !shown(step)
  })
  return errorWithin(mine, pointer)
}

/**
 * Of a value that has one of several forms the service tells what each of them has against it. Of these, what concerns the form that was chosen:
 * its own names, and not the constants that make it another form.
 */
export function errorsOfBranch(
  errors: readonly FieldError[],
  pointer: string,
  branch: { names: string[]; constants: string[] } | null,
): FieldError[] {
  const outside = errors.filter((error) => !isWithin(error.pointer, pointer))
  const inside = errors.filter((error) => isWithin(error.pointer, pointer))
  if (branch === null) return [...outside, ...inside]
  const own = inside.filter((error) => {
    const [step] = stepsOf(error.pointer.slice(pointer.length))
    return step !== undefined && branch.names.includes(step) && !branch.constants.includes(step)
  })
  return [...outside, ...(own.length > 0 ? own : inside)]
}

export function isWithin(pointer: string, around: string): boolean {
  return pointer === around || pointer.startsWith(`${around}/`)
}

function sentence(errors: readonly FieldError[]): string | null {
  return errors.length === 0 ? null : [...new Set(errors.map(({ detail }) => detail))].join('; ')
}

/** Names in the value for which there is no field: kept, and told. */
export function namesWithoutField(value: unknown, names: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.keys(value).filter((name) => !names.includes(name) && memberOf(value, name) !== undefined)
}
