/** Compares what came with what a case states, as the README tells, and fills the places of a case with values. */

type Json = unknown

/** The differences, each with its place; none when it fits. */
export function differences(stated: Json, came: Json, place = ''): string[] {
  const rule = ruleOf(stated)
  if (rule) return rule(came) ? [] : [`${place || 'the value'} is ${shown(came)}, not ${JSON.stringify(stated)}`]
  if (Array.isArray(stated)) {
    if (!Array.isArray(came)) return [`${place || 'the value'} is ${shown(came)}, not an array`]
    if (came.length !== stated.length)
      return [`${place || 'the array'} has ${came.length} elements, not ${stated.length}`]
    return stated.flatMap((one, index) => differences(one, came[index], `${place}/${index}`))
  }
  if (isObject(stated)) {
    if (!isObject(came)) return [`${place || 'the value'} is ${shown(came)}, not an object`]
    return Object.entries(stated).flatMap(([name, one]) => differences(one, came[name], `${place}/${name}`))
  }
  return Object.is(stated, came) ? [] : [`${place || 'the value'} is ${shown(came)}, not ${JSON.stringify(stated)}`]
}

function ruleOf(stated: Json): ((came: Json) => boolean) | null {
  if (!isObject(stated)) return null
  if ('$absent' in stated) return (came) => came === undefined
  if ('$type' in stated) return (came) => typeOf(came) === stated.$type
  if ('$pattern' in stated) return (came) => typeof came === 'string' && new RegExp(String(stated.$pattern)).test(came)
  if ('$contains' in stated) return (came) => typeof came === 'string' && came.includes(String(stated.$contains))
  return null
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: Json): string {
  return value === undefined ? 'absent' : JSON.stringify(value).slice(0, 500)
}

/** `${name}` stands for a value; a string that is nothing else becomes the value itself, whatever its type. */
export function filled<T>(value: T, values: Record<string, Json>): T {
  if (typeof value === 'string') {
    const whole = /^\$\{(\w+)\}$/.exec(value)?.[1]
    if (whole !== undefined) return valueNamed(whole, values) as T
    return value.replace(/\$\{(\w+)\}/g, (_text, name: string) => String(valueNamed(name, values))) as T
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, values)) as T
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, values)])) as T
}

function valueNamed(name: string, values: Record<string, Json>): Json {
  if (!(name in values)) throw new Error(`the case uses \${${name}}, which nothing has set`)
  return values[name]
}

/** The value at a JSON pointer without escapes. */
export function at(value: Json, pointer: string): Json {
  return pointer
    .split('/')
    .slice(1)
    .reduce<Json>((inside, name) => (inside as Record<string, Json> | undefined)?.[name], value)
}
