import { describe, expect, test } from 'vitest'
import { detectLanguage } from './detect-language.ts'
import { sentencesOf, wordsOf } from './words.ts'

test('words of scripts with and without spaces', () => {
  expect(wordsOf("Don't re-open the 2nd door.")).toEqual(["Don't", 're-open', 'the', '2nd', 'door'])
  expect(wordsOf('我们明天去北京。').length).toBeGreaterThan(2)
})

test('a long line without a space is cut, and no part of it is lost', () => {
  const words = wordsOf(`${'ab '.repeat(3000)}`)
  expect(words).toHaveLength(3000)
  expect(new Set(words)).toEqual(new Set(['ab']))
})

test('sentences end at marks and lines', () => {
  expect(sentencesOf('Heading\n\nOne. Two! Three?\n---\n')).toEqual(['Heading', 'One.', 'Two!', 'Three?'])
  expect(sentencesOf('One. Two. Three.', 2)).toEqual(['One.', 'Two.'])
})

describe('language', () => {
  test.each([
    ['en', 'The committee agreed that the bridge must be closed.'],
    ['fr', 'Le comité a décidé que le pont doit être fermé.'],
    ['de', 'Der Ausschuss hat beschlossen, die Brücke zu sperren.'],
    ['es', 'El comité decidió que el puente debe cerrarse hoy.'],
    ['nl', 'De commissie heeft besloten dat de brug gesloten wordt.'],
    ['pl', 'Komitet zdecydował, że most musi zostać zamknięty dla ruchu.'],
    ['ru', 'Комитет решил, что старый мост должен быть закрыт.'],
    ['ja', '委員会は古い橋を閉鎖することを決定しました。'],
    ['zh', '委员会决定关闭这座旧桥，因为它已经不安全了。'],
    ['ar', 'قررت اللجنة إغلاق الجسر القديم أمام الشاحنات الثقيلة'],
  ])('%s', async (language, text) => {
    expect(await detectLanguage(text)).toMatchObject({ language })
  })

  test('too little text, or no words of any language: the hint, or nothing', async () => {
    expect(await detectLanguage('12 ok')).toEqual({ language: null, confidence: 0 })
    expect(await detectLanguage('12 ok', 'fr')).toEqual({ language: 'fr', confidence: 0 })
    expect((await detectLanguage('xq zwv '.repeat(50))).language).toBeNull()
  })
})
