/** When an attempt is overdue, and what it may take when nobody set a timeout: so many times the expected duration. */

export const OVERDUE_PER_EXPECTED = 3
