/** Why a document could not be read, and what to do about it. */

import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { adviceOnRun } from './advice.ts'
import classes from './documents.module.css'

export function ErrorSentence({ runId }: { runId: string }) {
  const { data: run } = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => client.get(runId, { signal }),
  })
  if (!run) return 'It could not be read.'
  if (run.status !== 'FAILED' && run.status !== 'CANCELLED') return 'It is processed again.'
  const { what, todo } = adviceOnRun(run)
  return (
    <>
      {what} <strong className={classes.todo}>{todo}</strong>
    </>
  )
}
