import { expect, test } from 'vitest'
import { identify } from './identify.ts'
import { LIMITS } from './limits.ts'

async function kindOf(text: string): Promise<string> {
  return (await identify(Buffer.from(text), LIMITS)).kind
}

test.each([
  ['text', 'Dear Anna,\n\nthank you, as always, for your letter.\nYours, Ben\n'],
  ['text', '{"a": [1, 2, 3]}'],
  ['text', '# not a heading of Markdown, just a line\nsome words\n'],
  ['markdown', '# Title\n\nSome **bold** words.\n'],
  ['markdown', '# One\n\ntext\n\n# Two\n'],
  ['markdown', '- a\n- b\n\n> quoted\n'],
  ['html', '<!DOCTYPE html><p>x'],
  ['html', '<!-- saved -->\n<html><body>x</body></html>'],
  ['html', '<div><p>some</p><br>words</div>'],
  ['text', '<note><to>Ben</to></note>'],
  ['csv', 'a,b,c\n1,2,3\n'],
  ['csv', 'a;b\r\n1,5;2\r\n3,5;4\r\n'],
  ['csv', 'a\tb\tc\n1\t2\t3\n'],
  ['csv', '"a, with a comma","b ""quoted"""\n"1\n2",3\n4,5\n'],
  ['text', 'Hello, world\nGoodbye, world\nAgain, world\n'],
])('%s: %j', async (kind, text) => {
  expect(await kindOf(text)).toBe(kind)
})
