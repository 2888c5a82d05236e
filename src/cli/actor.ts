/** Who acts in the audit when somebody types a command: whoever has the database's address, which is not a token. */

import type { Actor } from '../store/ports/audit.ts'

export const ACTOR: Actor = { tokenId: null, owner: 'command line', requestId: null }
