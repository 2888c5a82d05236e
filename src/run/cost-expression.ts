/**
 * The formula of a cost: a CEL expression over the parameters of a run, evaluated where the model's code is not.
 *
 * A formula is arithmetic and choice: numbers, parameters, comparisons, `? :`, `in`, and a handful of functions. Everything else of CEL is refused
 * when the model is defined: no loops over lists, no regular expressions, no times. So its work is bounded by its length, whatever the parameters
 * are. Every number is a decimal one: `10 / 4` is 2.5, and whole and broken numbers mix.
 */

import { type ASTNode, Environment } from '@marcbachmann/cel-js'

export const EXPRESSION_CHARS_MAX = 1_000

const LIMITS = { maxAstNodes: 200, maxDepth: 32, maxListElements: 50, maxMapEntries: 0, maxCallArguments: 2 }
const OPERATORS = ['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=', '&&', '||', 'in', '?:', '!_', '-_']
const FUNCTIONS = ['size', 'has', 'int', 'double', 'min', 'max', 'ceil', 'floor']
/** Above it whole numbers are no longer exact. */
const WHOLE_MAX = BigInt(Number.MAX_SAFE_INTEGER)

const ARITHMETIC: Record<string, (left: number, right: number) => number> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
}

const environment = new Environment({ limits: LIMITS }).registerVariable('parameters', 'dyn')
for (const [operator, compute] of Object.entries(ARITHMETIC)) {
  const mixed = (left: unknown, right: unknown) => compute(Number(left), Number(right))
  environment.registerOperator(`double ${operator} int: double`, mixed)
  environment.registerOperator(`int ${operator} double: double`, mixed)
  if (operator === '%') environment.registerOperator('double % double: double', mixed)
}
environment.registerFunction('ceil(dyn): double', (value: unknown) => Math.ceil(numberOf(value)))
environment.registerFunction('floor(dyn): double', (value: unknown) => Math.floor(numberOf(value)))
environment.registerFunction('min(dyn, dyn): double', (a: unknown, b: unknown) => Math.min(numberOf(a), numberOf(b)))
environment.registerFunction('max(dyn, dyn): double', (a: unknown, b: unknown) => Math.max(numberOf(a), numberOf(b)))

export type Formula = {
  /** Throws what is wrong, in words. */
  evaluate(parameters: unknown): number
  /** The parameters it names. */
  names: string[]
}

/** Throws an Error in words for a person when the text is no formula. */
export function parseFormula(text: string): Formula {
  if (text.length > EXPRESSION_CHARS_MAX) throw new Error(`is longer than ${EXPRESSION_CHARS_MAX} characters`)
  const { ast } = inWords(() => environment.parse(text))
  const found: Found = { wholes: [], names: new Set() }
  inspect(ast, found)
  const parsed = inWords(() => environment.parse(withDecimals(text, found.wholes)))
  const checked = parsed.check()
  if (!checked.valid) throw new Error(reasonOf(checked.error))
  const type = String(checked.type)
  if (type !== 'double' && type !== 'int' && type !== 'dyn') throw new Error(`gives a ${type}, not a number`)
  return {
    names: [...found.names],
    evaluate: (parameters) => numberOf(inWords(() => parsed({ parameters }) as unknown)),
  }
}

type Found = { wholes: (ASTNode & { op: 'value' })[]; names: Set<string> }

/** Refuses what is not part of a formula, and notes its whole numbers and the parameters it names. */
function inspect(node: ASTNode, found: Found): void {
  if (node.op === 'value') inspectValue(node, found)
  else for (const part of partsOf(node, found)) inspect(part, found)
}

function partsOf(node: Exclude<ASTNode, { op: 'value' }>, { names }: Found): readonly ASTNode[] {
  switch (node.op) {
    case 'id':
      if (node.args !== 'parameters') throw new Error(`knows only parameters, not ${node.args}`)
      return []
    case '.':
      if (node.args[0].op === 'id') names.add(node.args[1])
      return [node.args[0]]
    case '[]':
      if (node.args[0].op === 'id' && node.args[1].op === 'value') names.add(String(node.args[1].args))
      return node.args
    case 'list':
      return node.args
    case 'call':
      return argumentsOf(node.args[0], node.args[1])
    case 'rcall':
      throw new Error(`has no method ${node.args[0]}; functions are ${FUNCTIONS.join(', ')}`)
    default:
      if (!OPERATORS.includes(node.op)) throw new Error(`may not use ${node.op}`)
      return [node.args].flat() as ASTNode[]
  }
}

function inspectValue(node: ASTNode & { op: 'value' }, { wholes }: Found): void {
  const { args: value } = node
  if (typeof value === 'bigint') {
    if (value > WHOLE_MAX) throw new Error(`has a number that is too large: ${value}`)
    wholes.push(node)
  } else if (typeof value === 'object' && value !== null)
    throw new Error('may use numbers, texts, true, false and null')
}

function argumentsOf(name: string, given: ASTNode[]): ASTNode[] {
  if (!FUNCTIONS.includes(name)) throw new Error(`has no function ${name}; there are ${FUNCTIONS.join(', ')}`)
  // What is put together may be many times as long as the parameters.
  if (name === 'size' && !isPath(given[0])) throw new Error('may ask for the size of a parameter only')
  return given
}

function isPath(node: ASTNode | undefined): boolean {
  if (node?.op === 'id') return true
  return (node?.op === '.' || node?.op === '[]') && isPath(node.args[0])
}

/** The same text with every whole number written as a decimal one. */
function withDecimals(text: string, wholes: Found['wholes']): string {
  let decimal = text
  for (const { start, end, args } of wholes.toSorted((a, b) => b.start - a.start)) {
    decimal = `${decimal.slice(0, start)}${args}.0${decimal.slice(end)}`
  }
  return decimal
}

function numberOf(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  throw new Error(`gives ${value === null ? 'null' : `a ${typeof value}`}, not a number`)
}

function inWords<Got>(work: () => Got): Got {
  try {
    return work()
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error })
  }
}

/** The library adds the place in the text on lines of their own. */
function reasonOf(error: unknown): string {
  const { summary, message } = error as { summary?: string; message: string }
  const text = (summary ?? message).split('\n')[0]!.slice(0, 200)
  return text.charAt(0).toLowerCase() + text.slice(1)
}
