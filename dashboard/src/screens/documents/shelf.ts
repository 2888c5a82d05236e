/** Where this browser keeps what outlives the page; null where it may not. */

function shelfHere(): Storage | null {
  try {
    return localStorage
  } catch {
    return null
  }
}

export const shelf = shelfHere()
