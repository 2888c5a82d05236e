/** The one client of the page. It has no token: the browser sends its cookie, and no script can read that. */

import { Holdfast } from '@holdfast/client'
import { apiUrl } from './place.ts'

export const client = new Holdfast({ url: apiUrl, retries: 2 })
