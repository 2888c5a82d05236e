/** Whether an answer is one that the OpenAPI document allows; says what is wrong with it when it is not. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument, Response } from '../../src/api/openapi.ts'
import type { FuzzOperation, FuzzRequest } from './requests.ts'
import type { FuzzAnswer } from './send.ts'

const DOCUMENT = 'openapi.json'
/** Accepts a body with items that do not fit, and says so of each of them. */
const JUDGED_ITEM_BY_ITEM = '/runs/batch'
const PROBLEM = 'application/problem+json'

export type Judge = (asked: FuzzOperation, request: FuzzRequest, answer: FuzzAnswer) => string | null

export function createJudge(document: OpenApiDocument): Judge {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: false })
  addFormats.default(ajv)
  ajv.addSchema(document, DOCUMENT)

  function misfit(pointer: string[], value: unknown): string | null {
    const path = pointer.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
    const ref = `${DOCUMENT}#/${path}`
    const check = ajv.getSchema(ref) ?? ajv.compile({ $ref: ref })
    return check(value) ? null : ajv.errorsText(check.errors)
  }

  /** Where the response stands in the document. */
  function find(
    { path, method, operation }: FuzzOperation,
    status: number,
  ): { pointer: string[]; response: Response } | null {
    const found = operation.responses[status]
    if (!found) return null
    if (!('$ref' in found))
      return { pointer: ['paths', path, method.toLowerCase(), 'responses', String(status)], response: found }
    const name = found.$ref.split('/').at(-1)!
    return { pointer: ['components', 'responses', name], response: document.components.responses[name]! }
  }

  return (asked, request, answer) => {
    const { status } = answer
    const type = String(answer.headers['content-type'] ?? '')
      .split(';')[0]!
      .trim()
    const isHealth = status === 503 && type === 'application/json'
    if (status >= 500 && !isHealth && !isBusy(answer)) return 'an error of ours'
    const found = find(asked, status)
    if (!found) return `the status ${status} is not described`
    if (answer.headers['x-request-id'] === undefined) return 'there is no X-Request-Id'
    const { content } = found.response
    if (!content) return answer.body === '' ? null : 'the body should be empty'
    if (!(type in content)) return `the type ${JSON.stringify(type)} is not described`
    if (answer.isStream) return null
    if (type.endsWith('json')) {
      const wrong = misfit([...found.pointer, 'content', type, 'schema'], JSON.parse(answer.body))
      if (wrong) return `the body does not fit its schema: ${wrong}`
    }
    if (status >= 400 && !isHealth) return type === PROBLEM ? wrongProblem(answer) : `an error that is ${type}`
    return acceptedMisfit(asked, request)
  }

  /** A request that was accepted must have been one that the document allows. */
  function acceptedMisfit({ path, method, operation }: FuzzOperation, { sent }: FuzzRequest): string | null {
    if (!sent || !operation.requestBody?.content['application/json'] || path === JUDGED_ITEM_BY_ITEM) return null
    const pointer = ['paths', path, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema']
    const wrong = misfit(pointer, sent.value)
    return wrong && `a body was accepted that its schema refuses: ${wrong}`
  }
}

function wrongProblem({ status, headers, body }: FuzzAnswer): string | null {
  const problem = JSON.parse(body)
  if (problem.status !== status) return `the problem says ${problem.status}`
  if (problem.instance !== headers['x-request-id']) return 'instance is not the request id'
  if (problem.type !== `urn:holdfast:error:${problem.code}`) return 'type and code disagree'
  if (/\bselect\b.*\bfrom\b|node_modules|\/src\/|\.ts:\d/i.test(body)) return 'the problem shows our insides'
  return null
}

/** Two requests for one thing at once may have to be sent again; the document says so. */
function isBusy({ status, body }: FuzzAnswer): boolean {
  return status === 503 && JSON.parse(body).code === 'busy'
}
