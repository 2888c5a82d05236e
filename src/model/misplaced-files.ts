/** Files in a schema where none are looked for: there an id would pass as mere text, and no attempt would get its bytes. */

import type { JsonSchema } from '../run/definition.ts'
import { FILE_FORMAT } from '../run/file-parameters.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import type { ParameterError } from './parameter-check.ts'
import { visitSchemas } from './schema-keywords.ts'

const OR = '(/(anyOf|oneOf|allOf)/\\d+)*'
const PLACE = new RegExp(`^${OR}/(properties|\\$defs|definitions)/[^/]+${OR}(/items${OR})?$`)

/** Pointers start at the schema. */
export function misplacedFiles(root: JsonSchema): ParameterError[] {
  const problems: ParameterError[] = []
  visitSchemas(root, ({ format }, path) => {
    if (format !== FILE_FORMAT || PLACE.test(jsonPointer(path))) return
    const detail = 'a file must be a parameter itself, or an item of a parameter that is a list'
    problems.push({ pointer: jsonPointer([...path, 'format']), detail })
  })
  return problems
}
