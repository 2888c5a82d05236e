/**
 * What the type of a model says to its callers. A model is named by type only (`import type { forecast } from './models.ts'`), so
 * that none of its code, and none of the service's, gets into the program that submits.
 */

/** As much of a model as the types need; anything made by `model()` of `holdfast` fits. */
export type ModelLike = {
  readonly parameters: { readonly '~standard': { readonly types?: { readonly input: unknown } | undefined } }
  run(parameters: never, ctx: never): unknown
}

/** A model whose type is not known here. */
export type AnyModel = {
  readonly parameters: { readonly '~standard': { readonly types?: { readonly input: Record<string, unknown> } } }
  run(): unknown
}

/** What callers send: defaults may be left out. */
export type ParametersOf<M extends ModelLike> = NonNullable<M['parameters']['~standard']['types']>['input']

/** What comes back, after its way through JSON. */
export type ResultOf<M extends ModelLike> = JsonOf<Awaited<ReturnType<M['run']>>>

/** A value as JSON brings it back: dates are strings, what JSON has no word for is null or gone. */
export type JsonOf<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends { toJSON(): infer Written }
      ? JsonOf<Written>
      : // biome-ignore lint/suspicious/noConfusingVoidType: a model that returns nothing has the result null.
        T extends void | symbol | ((...args: never) => unknown)
        ? null
        : T extends readonly unknown[]
          ? { [Index in keyof T]: JsonOf<T[Index]> }
          : { [Name in keyof T as JsonName<Name, T[Name]>]: JsonMember<T[Name]> }

type JsonName<Name, Value> = Name extends symbol ? never : Value extends (...args: never) => unknown ? never : Name

/** An optional member stays optional: JSON leaves it out. */
type JsonMember<T> = undefined extends T
  ? unknown extends T
    ? T
    : JsonOf<Exclude<T, undefined>> | undefined
  : JsonOf<T>
