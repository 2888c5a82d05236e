/** Places on the map that the result of a run names, on the wire. */

import { z } from 'zod'
import { pageAnswer } from './page.ts'

export const PlaceObject = z.strictObject({
  /** In degrees, north above 0. */
  latitude: z.number().min(-90).max(90),
  /** In degrees, east above 0. */
  longitude: z.number().min(-180).max(180),
  label: z.string().nullable(),
  /** The file it was found in; null when the run has none or several and the result does not say. */
  file_id: z.string().nullable(),
})

export const PlaceList = pageAnswer(PlaceObject)

export type PlaceObject = z.infer<typeof PlaceObject>
export type PlaceList = z.infer<typeof PlaceList>
