/** Names of months in seven languages, in lower case, and the short ones that are written in dates. */

const NAMES = [
  'january february march april may june july august september october november december',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'januar februar märz april mai juni juli august september oktober november dezember',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  'januari februari maart april mei juni juli augustus september oktober november december',
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
  'jan feb mar apr may jun jul aug sep oct nov dec',
  'jän feb mär avr mai giu lug ago set okt nov dez',
  'ene fev mrt abr mag jun jul aoû sept ott nov dic',
]

export const MONTHS: ReadonlyMap<string, number> = new Map(
  NAMES.flatMap((names) => names.split(' ').map((name, index) => [name, index + 1] as const)),
)
