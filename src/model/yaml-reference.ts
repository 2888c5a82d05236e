/** The table of keys in `docs/models-yaml.md`, made from the schema that checks the files. */

import { z } from 'zod'
import { YAML_DEFAULTS, YamlModel } from './yaml-schema.ts'
import { unwrapped } from './yaml-words.ts'

export function renderYamlReference(): string {
  const rows = rowsOf(YamlModel, '')
  return ['| key | kind | without it | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

function rowsOf(object: z.ZodObject, prefix: string): string[] {
  return Object.entries(object.shape).flatMap(([name, schema]) => {
    const key = prefix + name
    const inner = unwrapped(schema)
    const isOptional = schema instanceof z.ZodOptional
    const without = YAML_DEFAULTS[key] === undefined ? (isOptional ? '' : 'refused') : `\`${YAML_DEFAULTS[key]}\``
    const about = (schema as z.ZodType).description ?? ''
    const row = `| \`${key}\` | ${key === 'parameters' ? 'object' : kindOf(schema)} | ${without} | ${about.replaceAll('|', '\\|')} |`
    return inner instanceof z.ZodObject ? [row, ...rowsOf(inner, `${key}.`)] : [row]
  })
}

function kindOf(schema: unknown): string {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodEnum) return inner.options.map((option) => `\`${option}\``).join(', ')
  if (inner instanceof z.ZodArray) return `list of ${kindOf(inner.element)}`
  if (inner instanceof z.ZodRecord) return `names with ${kindOf(inner.valueType)}`
  if (inner instanceof z.ZodUnion) return inner.options.map(kindOf).join(' or ')
  if (inner instanceof z.ZodNumber) return numberKind(inner)
  return KINDS.find(([type]) => inner instanceof type)?.[1] ?? 'any value'
}

// biome-ignore lint/suspicious/noExplicitAny: constructors of any kind of schema
const KINDS: [type: abstract new (...args: any[]) => unknown, kind: string][] = [
  [z.ZodObject, 'object'],
  [z.ZodString, 'text'],
  [z.ZodBoolean, '`true`, `false`'],
]

function numberKind(schema: z.ZodNumber): string {
  const { minValue, maxValue, isInt } = schema
  const kind = isInt ? 'whole number' : 'number'
  const least = minValue === null || minValue === Number.MIN_SAFE_INTEGER ? null : minValue
  const most = maxValue === null || maxValue === Number.MAX_SAFE_INTEGER ? null : maxValue
  if (least !== null && !schema.safeParse(least).success)
    return `${kind} above ${shown(least)}, at most ${shown(most ?? 0)}`
  if (least !== null && most !== null) return `${kind}, ${shown(least)} to ${shown(most)}`
  return least === null ? kind : `${kind} from ${shown(least)}`
}

function shown(value: number): string {
  return value.toLocaleString('en-US').replace('-', '−')
}
