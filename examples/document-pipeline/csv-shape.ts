/** Tells a table from prose: the mark that divides every one of its first records into the same number of fields, two or more. */

const CANDIDATES = ['\t', ';', ',', '|']
const RECORDS_MAX = 50

type Shape = { counts: number[]; marks: number; spaced: number }

/** Null when no mark fits. `isCut`: the sample ends in the middle of the text. */
export function csvShapeOf(sample: string, isCut: boolean): { delimiter: string; columns: number } | null {
  let best: { delimiter: string; columns: number } | null = null
  for (const delimiter of CANDIDATES) {
    const shape = shapeOf(sample, delimiter, isCut)
    const columns = shape.counts[0] ?? 0
    if (!isTable(shape) || isProse(shape)) continue
    if (best === null || columns > best.columns) best = { delimiter, columns }
  }
  return best
}

function isTable({ counts }: Shape): boolean {
  const columns = counts[0] ?? 0
  const recordsNeeded = columns > 2 ? 2 : 3
  return columns > 1 && counts.length >= recordsNeeded && counts.every((count) => count === columns)
}

/** In prose a space follows every comma. */
function isProse({ marks, spaced }: Shape): boolean {
  return spaced > marks / 2
}

/** The number of fields of each whole record; a field in quotes may hold marks and line ends. */
function shapeOf(sample: string, delimiter: string, isCut: boolean): Shape {
  const shape: Shape = { counts: [], marks: 0, spaced: 0 }
  let fields = 1
  let isEmpty = true
  let isQuoted = false
  let atFieldStart = true
  const endRecord = () => {
    if (!isEmpty) shape.counts.push(fields)
    fields = 1
    isEmpty = true
  }
  for (let at = 0; at < sample.length && shape.counts.length < RECORDS_MAX; at++) {
    const letter = sample[at]!
    if (isQuoted) {
      if (letter === '"') isQuoted = false
      continue
    }
    if (letter === '"' && (atFieldStart || sample[at - 1] === '"')) isQuoted = true
    if (letter === delimiter) {
      fields++
      shape.marks++
      if (sample[at + 1] === ' ') shape.spaced++
    } else if (letter === '\n') endRecord()
    if (letter !== '\n' && letter !== '\r') isEmpty = false
    atFieldStart = letter === delimiter || letter === '\n'
  }
  if (!isQuoted && !isCut && shape.counts.length < RECORDS_MAX) endRecord()
  return shape
}
