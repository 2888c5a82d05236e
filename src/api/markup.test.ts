import { expect, test } from 'vitest'
import { html } from '../run/html.ts'
import { prose, words } from './markup.ts'

const HOSTILE = `<img src=x onerror="alert('1')">&`
const HARMLESS = '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;'

test('text is escaped wherever it is put', () => {
  expect(html`<p title="${HOSTILE}">${[HOSTILE]}</p>`.text).toBe(`<p title="${HARMLESS}">${HARMLESS}</p>`)
})

test('markup stays markup', () => {
  expect(html`<p>${html`<b>${1}</b>`}</p>`.text).toBe('<p><b>1</b></p>')
})

test('nothing leaves nothing', () => {
  expect(html`a${null}${false}${undefined}${[]}b`.text).toBe('ab')
})

test('code between backticks, and hostile text in it', () => {
  expect(words(`see \`${HOSTILE}\``).text).toBe(`see <code>${HARMLESS}</code>`)
})

test('paragraphs and lists', () => {
  expect(prose('one\n\n- a\n- `b`\n\ntwo').text).toBe(
    '<p>one</p>\n<ul><li>a</li><li><code>b</code></li></ul>\n<p>two</p>\n',
  )
})
