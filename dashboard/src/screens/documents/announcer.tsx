/** Tells screen readers how far things are, now and then: thousands of changes would say nothing. */

import { VisuallyHidden } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'

const EVERY_MS = 5_000

export function Announcer({ text }: { text: string }) {
  const [told, setTold] = useState('')
  const latest = useRef(text)
  useEffect(() => {
    latest.current = text
  })
  useEffect(() => {
    const timer = setInterval(() => setTold(latest.current), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {told}
    </VisuallyHidden>
  )
}
