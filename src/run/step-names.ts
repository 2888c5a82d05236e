/**
 * Names of steps: printable ASCII, 1 to 128 characters, one step per name in a run. The items of a map are steps too, named after it and
 * their place: `pages[17]`.
 */

export const STEP_NAME_LENGTH_MAX = 128
/** Leaves room for the place of an item. */
export const MAP_NAME_LENGTH_MAX = 120
/** Of one run, without the items of maps. */
export const STEPS_MAX = 1_000
/** Items of maps of one run. */
export const STEP_ITEMS_MAX = 100_000

const PRINTABLE = /^[\x20-\x7e]+$/
const ITEM = /^(.+)\[(0|[1-9]\d{0,8})\]$/

/** What is wrong with the name of a step or, with a shorter limit, of a map; null when it is good. */
export function stepNameProblem(name: unknown, lengthMax = STEP_NAME_LENGTH_MAX): string | null {
  if (typeof name !== 'string' || !PRINTABLE.test(name) || name.length > lengthMax) {
    return `must be 1 to ${lengthMax} characters of printable ASCII`
  }
  return ITEM.test(name) ? 'must not end in a number in brackets, which names an item of a map' : null
}

export function itemName(map: string, no: number): string {
  return `${map}[${no}]`
}

/** The map and the place that the name of an item tells; null for any other step. */
export function itemOfName(name: string): { map: string; no: number } | null {
  const found = ITEM.exec(name)
  return found ? { map: found[1]!, no: Number(found[2]) } : null
}
