/** A request from the first keystroke to its answer: the draft, the options, the key, and what the service says. */

import type { ModelInfo, Run, Submitted } from '@holdfast/client'
import { HoldfastError } from '@holdfast/client'
import { useMutation } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { client } from '../../client.ts'
import { withDefaults } from './defaults.ts'
import { type Draft, draftOf } from './draft.ts'
import { type FieldError, isWithin } from './field-errors.ts'
import { freshKey, type KeyState, keyFor } from './idempotency.ts'
import { fingerprint, NO_OPTIONS, type OptionTexts, optionsOfRun, type Request, submitOptions } from './run-options.ts'
import { describe } from './shape.ts'
import { isObject, type JsonObject, type Path, pointerOf } from './value-path.ts'

export function useRequest(model: ModelInfo, source: Run | null) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(firstValue(model, source)))
  const [options, setOptions] = useState<OptionTexts>(() => (source ? optionsOfRun(source, model) : NO_OPTIONS))
  const [keyState, setKey] = useState<KeyState>(freshKey)
  const [errors, setErrors] = useState<FieldError[]>([])
  const [unreadable] = useState(() => new Set<string>())
  const answer = useMutation<Submitted, Error, Request>({
    mutationFn: ({ model: name, parameters, ...rest }) =>
      client.submit(name, parameters, submitOptions({ model: name, parameters, ...rest })),
    onMutate: () => setErrors([]),
    onError: (error) => setErrors(error instanceof HoldfastError ? (error.problem?.errors ?? []) : []),
    onSuccess: (_, request) => setKey((state) => ({ ...state, acceptedFor: fingerprint(request) })),
  })
  const isSending = useRef(false)
  const settled = () => {
    isSending.current = false
  }
  const request: Request = {
    model: model.name,
    version: model.version,
    parameters: draft.value,
    options,
    key: keyState.key,
    from: source?.run_id ?? null,
  }

  /** A second click while the first is under way does nothing; after a lost answer the same key is sent again. */
  const submit = () => {
    if (isSending.current) return
    isSending.current = true
    const used = keyFor(keyState, fingerprint(request))
    setKey(used)
    answer.mutate({ ...request, key: used.key }, { onSettled: settled })
  }
  /** What was said about a place no longer holds once it was changed. */
  const onEdit = useCallback((path: Path) => {
    const pointer = `/parameters${pointerOf(path)}`
    setErrors((before) => {
      const left = before.filter((error) => !isWithin(error.pointer, pointer))
      return left.length === before.length ? before : left
    })
  }, [])
  return { draft, setDraft, options, setOptions, keyState, setKey, errors, unreadable, answer, request, submit, onEdit }
}

function firstValue({ parameters_schema: schema }: ModelInfo, source: Run | null): JsonObject {
  const value = source ? source.parameters : withDefaults({}, schema, schema)
  if (!isObject(value)) return {}
  // In the order of the form, as far as it has one.
  const { shape } = describe(schema, schema)
  const names = shape.kind === 'object' ? shape.properties.map(({ name }) => name) : []
  const inOrder = [...names.filter((name) => Object.hasOwn(value, name)), ...Object.keys(value)]
  return Object.fromEntries(inOrder.map((name) => [name, value[name]]))
}
