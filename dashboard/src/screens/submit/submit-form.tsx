/** Everything between choosing a model and the run: form and JSON side by side, the options, the button, and the answer. */

import type { ModelInfo, Run } from '@holdfast/client'
import { Button, Group, Kbd, Text, Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { PlayIcon } from '../../parts/icons.tsx'
import { CurlPane } from './curl-pane.tsx'
import { draftOf } from './draft.ts'
import { isWithin, parameterErrors } from './field-errors.ts'
import { pointerId } from './form-context.ts'
import { freshKey } from './idempotency.ts'
import { JsonPane } from './json-pane.tsx'
import { OptionsPart, optionId } from './options-part.tsx'
import { Outcome } from './outcome.tsx'
import { ParameterForm } from './parameter-form.tsx'
import { Refusal } from './refusal.tsx'
import classes from './submit.module.css'
import { useRequest } from './use-request.ts'

export function SubmitForm({ model, source }: { model: ModelInfo; source: Run | null }) {
  const state = useRequest(model, source)
  const { draft, setDraft, errors, answer, submit, unreadable } = state
  const optionsPart = useRef<HTMLDetailsElement>(null)
  const go = (pointer: string) => {
    if (!isWithin(pointer, '/parameters') && optionsPart.current) optionsPart.current.open = true
    focusPointer(pointer)
  }
  useFocusOnRefusal(answer.error, errors[0]?.pointer, go)
  const send = () => {
    const [first] = unreadable
    if (first !== undefined) document.getElementById(pointerId(first))?.focus()
    else if (draft.trouble === null) submit()
  }
  return (
    <form
      noValidate
      className={classes.columns}
      aria-label={`Submit a run of ${model.name}`}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLElement)) return
        if (event.ctrlKey || event.metaKey) send()
        // Enter in a field would submit half a form; the button and Ctrl+Enter are there for that.
        else if (event.target.tagName === 'INPUT') event.preventDefault()
      }}
    >
      <div>
        <section className={classes.box}>
          <Title order={2} mb="sm">
            Parameters
          </Title>
          <ParameterForm
            root={model.parameters_schema}
            draft={draft}
            onDraft={setDraft}
            errors={parameterErrors(errors)}
            from={source?.run_id ?? null}
            unreadable={unreadable}
            onEdit={state.onEdit}
          />
        </section>
        <section className={classes.box}>
          <OptionsPart
            part={optionsPart}
            model={model}
            options={state.options}
            onOptions={state.setOptions}
            keyState={state.keyState}
            onKey={state.setKey}
            errors={errors}
          />
        </section>
        <Answer state={state} onGo={go} onRetry={send} />
        <SubmitBar isPending={answer.isPending} isPaused={draft.trouble !== null} />
      </div>
      <Beside state={state} />
    </form>
  )
}

type State = ReturnType<typeof useRequest>

function Answer({ state, onGo, onRetry }: { state: State; onGo(pointer: string): void; onRetry(): void }) {
  const { answer, setKey } = state
  const another = () => {
    setKey(freshKey())
    answer.reset()
  }
  const { data, error, submittedAt } = answer
  return (
    <div className={classes.answer}>
      {error && <Refusal error={error} onGo={onGo} onNewKey={() => setKey(freshKey())} onRetry={onRetry} />}
      {data && <Outcome key={`${data.runId} ${submittedAt}`} submitted={data} onAnother={another} />}
    </div>
  )
}

function SubmitBar({ isPending, isPaused }: { isPending: boolean; isPaused: boolean }) {
  return (
    <div className={classes.bar}>
      <Group gap="sm">
        <Button type="submit" leftSection={<PlayIcon />} loading={isPending} disabled={isPaused}>
          Submit run
        </Button>
        <Text size="xs" c="dimmed" visibleFrom="sm">
          <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Enter</Kbd> from any field
        </Text>
      </Group>
    </div>
  )
}

/** The same request as JSON and as a command. */
function Beside({ state: { draft, setDraft, errors, request } }: { state: State }) {
  const [areSecretsShown, setSecretsShown] = useState(false)
  const showSecrets = (areShown: boolean) => {
    setSecretsShown(areShown)
    setDraft((before) => (before.trouble === null ? draftOf(before.value) : before))
  }
  return (
    <div className={classes.beside}>
      <section className={classes.box}>
        <JsonPane
          draft={draft}
          onDraft={setDraft}
          errors={parameterErrors(errors)}
          areSecretsShown={areSecretsShown}
          onSecretsShown={showSecrets}
        />
      </section>
      <section className={classes.box}>
        <CurlPane request={request} areSecretsShown={areSecretsShown} />
      </section>
    </div>
  )
}

/** After a refusal that names places, the first of them has the focus. */
function useFocusOnRefusal(error: Error | null, pointer: string | undefined, go: (pointer: string) => void): void {
  const seen = useRef<Error | null>(null)
  useEffect(() => {
    if (error === seen.current) return
    seen.current = error
    if (error && pointer !== undefined) go(pointer)
  })
}

/** The field of the place, or of the nearest one around it that has a field. */
function focusPointer(pointer: string): void {
  const isParameter = isWithin(pointer, '/parameters')
  let place = isParameter ? pointer.slice('/parameters'.length) : pointer.slice(1)
  for (;;) {
    const field = document.getElementById(isParameter ? pointerId(place) : optionId(place))
    field?.focus()
    const cut = place.lastIndexOf('/')
    if (field || cut === -1) return
    place = place.slice(0, cut)
  }
}
