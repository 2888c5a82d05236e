/**
 * The leases a heartbeat thread renews. They come by claims, as text, and go the same way: most short runs have ended before anybody asks about
 * them, so the text of a claim is read only when somebody does, and a claim of which nothing is left is forgotten by its number.
 *
 * A lease is named by its run and its epoch, with a blank between them, since a worker can hold a later lease of a run whose earlier one it has lost.
 */

export type HeldLease = { runId: string; epoch: number }

/** `ended`: what of the claim has ended since it was last told; null when nothing of it is left. */
export type EndedOfClaim = { claim: number; ended: string | null }

type Claim = { takenAtMs: number; text: string; isRead: boolean }

export class HeldLeases {
  readonly #claims = new Map<number, Claim>()
  readonly #renewedAtMs = new Map<string, number>()

  /** Of each claim a line: its number, when it was taken, and its leases. */
  add(claims: string): void {
    for (const line of claims.split('\n').slice(0, -1)) {
      const [no, takenAtMs] = line.split(' ', 2)
      const text = line.slice(no!.length + takenAtMs!.length + 2)
      this.#claims.set(Number(no), { takenAtMs: Number(takenAtMs), text, isRead: false })
    }
  }

  end({ claim: no, ended }: EndedOfClaim): void {
    const claim = this.#claims.get(no)
    if (!claim) return
    if (ended !== null) this.#read(claim)
    else this.#claims.delete(no)
    if (claim.isRead) for (const name of namesIn(ended ?? claim.text)) this.#renewedAtMs.delete(name)
  }

  names(): string[] {
    for (const claim of this.#claims.values()) this.#read(claim)
    return [...this.#renewedAtMs.keys()]
  }

  has(name: string): boolean {
    return this.#renewedAtMs.has(name)
  }

  renewed(name: string, atMs: number): void {
    this.#renewedAtMs.set(name, atMs)
  }

  lost(name: string): void {
    this.#renewedAtMs.delete(name)
  }

  /** Those that were not renewed since then. They are held no more. */
  loseOlderThan(atMs: number): string[] {
    for (const claim of this.#claims.values()) if (claim.takenAtMs <= atMs) this.#read(claim)
    const older = [...this.#renewedAtMs].filter(([, renewedAtMs]) => renewedAtMs <= atMs).map(([name]) => name)
    for (const name of older) this.lost(name)
    return older
  }

  #read(claim: Claim): void {
    if (claim.isRead) return
    claim.isRead = true
    for (const name of namesIn(claim.text)) this.#renewedAtMs.set(name, claim.takenAtMs)
  }
}

export function leaseNamed(name: string): HeldLease {
  const [runId = '', epoch] = name.split(' ')
  return { runId, epoch: Number(epoch) }
}

export function leaseName({ runId, epoch }: HeldLease): string {
  return `${runId} ${epoch}`
}

/** One text is copied to another thread far quicker than many objects. */
function namesIn(text: string): string[] {
  return text.split(',').slice(0, -1)
}
