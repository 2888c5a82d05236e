/** The request as a command for a shell. Whatever the parameters hold, the shell reads them as one text. */

export function curlText(apiUrl: string, body: unknown, hasTokens: boolean): string {
  const lines = [
    `curl ${quoted(`${apiUrl}/runs`)}`,
    `-H ${quoted('Content-Type: application/json')}`,
    // Double quotes: the shell puts the token in, and it is not in this page.
    ...(hasTokens ? ['-H "Authorization: Bearer $HOLDFAST_TOKEN"'] : []),
    `--data-raw ${quoted(JSON.stringify(body, null, 2))}`,
  ]
  return lines.join(' \\\n  ')
}

/** Within single quotes a shell changes nothing; only they themselves have to be left and entered again. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
