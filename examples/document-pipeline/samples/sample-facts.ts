/** Facts that a sample states and the pipeline must find: each as it is written in a document, and as the result has it. */

import type { SampleLanguage } from './sample-language.ts'

export type Random = () => number

export type Facts = {
  date: { written: string; iso: string }
  amount: { written: string; currency: string; value: number }
  email: string
  place: { written: string; latitude: number; longitude: number }
}

const MONTHS: Record<SampleLanguage, string[]> = {
  en: 'January February March April May June July August September October November December'.split(' '),
  fr: 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' '),
  de: 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' '),
  es: 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' '),
  it: 'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre'.split(' '),
}

const MAILBOXES = ['anna', 'office', 'jean.dupont', 'l_rossi', 'maria+reports']
const DOMAINS = ['example.com', 'example.org', 'mail.example.net']

export function makeFacts(random: Random, language: SampleLanguage, index: number): Facts {
  return {
    date: makeDate(random, language),
    amount: makeAmount(random),
    email: `${pick(random, MAILBOXES)}${index}@${pick(random, DOMAINS)}`,
    place: makePlace(random),
  }
}

export function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)]!
}

export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1))
}

function makeDate(random: Random, language: SampleLanguage): Facts['date'] {
  const [year, month, day] = [between(random, 1990, 2029), between(random, 1, 12), between(random, 13, 28)]
  const two = (value: number) => String(value).padStart(2, '0')
  const name = MONTHS[language][month - 1]!
  const spelled = {
    en: pick(random, [`${day} ${name} ${year}`, `${name} ${day}, ${year}`]),
    fr: `${day} ${name} ${year}`,
    de: `${day}. ${name} ${year}`,
    es: `${day} de ${name} de ${year}`,
    it: `${day} ${name} ${year}`,
  }[language]
  const iso = `${year}-${two(month)}-${two(day)}`
  return { iso, written: pick(random, [iso, `${two(day)}.${two(month)}.${year}`, `${day}/${month}/${year}`, spelled]) }
}

function makeAmount(random: Random): Facts['amount'] {
  const cents = between(random, 100_000, 99_999_999)
  const whole = String(Math.floor(cents / 100))
  const part = String(cents % 100).padStart(2, '0')
  const grouped = (mark: string) => whole.replace(/\B(?=(\d{3})+$)/g, mark)
  const [written, currency] = pick(random, [
    [`€${grouped(',')}.${part}`, 'EUR'],
    [`${grouped('.')},${part} EUR`, 'EUR'],
    [`${grouped('\u00a0')},${part} €`, 'EUR'],
    [`USD ${grouped(',')}.${part}`, 'USD'],
    [`$${whole}.${part}`, 'USD'],
    [`£${grouped(',')}.${part}`, 'GBP'],
    [`CHF ${grouped("'")}.${part}`, 'CHF'],
  ] as const)
  return { written, currency, value: cents / 100 }
}

function makePlace(random: Random): Facts['place'] {
  const latitude = between(random, -8999, 8999) / 100 + 0.00123
  const longitude = between(random, -17999, 17999) / 100 + 0.00123
  const [north, east] = [latitude < 0 ? 'S' : 'N', longitude < 0 ? 'W' : 'E']
  const fixed = (value: number) => Math.abs(value).toFixed(5)
  const asDecimal = { latitude: Number(latitude.toFixed(5)), longitude: Number(longitude.toFixed(5)) }
  const down = inParts(latitude)
  const across = inParts(longitude)
  return pick(random, [
    { ...asDecimal, written: `${latitude.toFixed(5)}, ${longitude.toFixed(5)}` },
    { ...asDecimal, written: `${fixed(latitude)}° ${north}, ${fixed(longitude)}° ${east}` },
    { latitude: down.value, longitude: across.value, written: `${down.written}${north} ${across.written}${east}` },
  ])
}

function inParts(value: number): { written: string; value: number } {
  const seconds = Math.round(Math.abs(value) * 3600)
  const [degrees, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const written = `${degrees}°${String(minutes).padStart(2, '0')}'${String(seconds % 60).padStart(2, '0')}"`
  return { written, value: Number(((Math.sign(value) * seconds) / 3600).toFixed(6)) }
}
