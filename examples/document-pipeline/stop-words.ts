/** Words too common to tell anything, per language; also a good sign of which language a text is in. */

/** Two-letter codes of the languages with a list, and the names the package gives the lists. */
const LISTS: Record<string, string> = {
  ar: 'ara',
  cs: 'ces',
  da: 'dan',
  de: 'deu',
  el: 'ell',
  en: 'eng',
  es: 'spa',
  fa: 'fas',
  fi: 'fin',
  fr: 'fra',
  he: 'heb',
  hi: 'hin',
  hu: 'hun',
  id: 'ind',
  it: 'ita',
  ja: 'jpn',
  nb: 'nob',
  nl: 'nld',
  pl: 'pol',
  pt: 'por',
  ro: 'ron',
  ru: 'rus',
  sk: 'slk',
  sv: 'swe',
  tr: 'tur',
  uk: 'ukr',
  vi: 'vie',
  zh: 'zho',
}

export const STOP_WORD_LANGUAGES = Object.keys(LISTS)

const loaded = new Map<string, ReadonlySet<string>>()

/** An empty set for a language without a list. */
export async function stopWordsOf(language: string | null): Promise<ReadonlySet<string>> {
  if (language === null || !Object.hasOwn(LISTS, language)) return new Set()
  const known = loaded.get(language)
  if (known) return known
  const { default: lists } = await import('stopword')
  const list = lists[LISTS[language]!]
  const words: ReadonlySet<string> = new Set(Array.isArray(list) ? list : [])
  loaded.set(language, words)
  return words
}
