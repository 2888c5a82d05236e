/**
 * Text of somebody else's, such as the name of a document, as one harmless line: in a subject no line break may end the header, and no
 * mark may turn the direction of what follows.
 */

const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu
// Marks that reorder text: a name could show as another one, or swallow the words around it.
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

export function oneLine(text: string, charactersMax = 200): string {
  const line = text.toWellFormed().replace(DIRECTION, '').replace(BREAKS, ' ').trim()
  const characters = [...line]
  return characters.length <= charactersMax ? line : `${characters.slice(0, charactersMax - 1).join('')}…`
}
