/** Asks before a queue is paused or resumed, and does it. */

import type { Queue } from '@holdfast/client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { say } from '../../shell/notices.tsx'
import { pauseWords, resumeWords } from './queue-words.ts'

/** Open while a queue is given. */
export function PauseDialog({ queue, onClose }: { queue: Queue | undefined; onClose: () => void }) {
  const queries = useQueryClient()
  const asked = useAsked(queue)
  if (!asked) return null
  const { queue: name, paused } = asked
  const act = async () => {
    await (paused ? client.queues.resume(name) : client.queues.pause(name))
    await queries.invalidateQueries({ queryKey: ['queues'] })
    say(paused ? `Queue ${name} is resumed.` : `Queue ${name} is paused.`)
  }
  return (
    <ConfirmDialog
      isOpen={queue !== undefined}
      title={`${paused ? 'Resume' : 'Pause'} queue ${name}?`}
      act={paused ? 'Resume' : 'Pause'}
      isDestructive={!paused}
      onAct={act}
      onClose={onClose}
    >
      {paused ? resumeWords(asked) : pauseWords(asked)}
    </ConfirmDialog>
  )
}

/** What is asked about stays the same while it is being done, whatever the list says meanwhile. */
function useAsked(queue: Queue | undefined): Queue | undefined {
  const [asked, setAsked] = useState(queue)
  const name = queue?.queue
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another question is another question
  useEffect(() => {
    if (queue) setAsked(queue)
  }, [name])
  return asked
}
