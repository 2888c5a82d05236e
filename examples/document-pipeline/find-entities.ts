/** D4: dates, amounts of money, e-mail addresses and places in the text. Each list has a limit. */

import { type FoundAmount, findAmounts } from './find-amounts.ts'
import { findCoordinates, type Place } from './find-coordinates.ts'
import { type FoundDate, findDates } from './find-dates.ts'
import { findEmails } from './find-emails.ts'
import type { Measured } from './measure.ts'

export type Entities = { dates: FoundDate[]; amounts: FoundAmount[]; emails: string[] }
export type WithEntities = Measured & { entities: Entities; places: Place[] }

const COUNT_MAX = 100
const EMAIL_COUNT_MAX = 50

export function findEntities(measured: Measured): WithEntities {
  const { text, language } = measured
  return {
    ...measured,
    entities: {
      dates: findDates(text, COUNT_MAX),
      amounts: findAmounts(text, COUNT_MAX),
      emails: findEmails(text, EMAIL_COUNT_MAX),
    },
    places: findCoordinates(text, language, COUNT_MAX),
  }
}
