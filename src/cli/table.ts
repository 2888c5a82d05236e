/** Rows of texts as columns for a terminal; the first row is the heading. */

export function table(rows: string[][]): string {
  const widths = rows[0]!.map((_cell, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
