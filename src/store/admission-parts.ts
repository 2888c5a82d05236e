/** The parts of admission, in the order in which they judge: the first one that refuses is the one that is told. */

import type { AdmissionPart } from './admit.ts'
import { ADMIT_COSTS } from './admit-costs.ts'
import { keysPart } from './admit-keys.ts'
import { quotaPart } from './admit-quota.ts'

export const ADMISSION_PARTS: readonly AdmissionPart[] = [quotaPart, ADMIT_COSTS, keysPart]
