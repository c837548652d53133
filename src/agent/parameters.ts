import {
  type AnyKind,
  type HandleIn,
  type Kind,
  type Message,
  ParameterKind,
  type TrainingMethod,
} from '../core/index.ts'
import type { ParameterBinding } from './binding.ts'
import { decisionRecorder } from './decision-recorder.ts'
import { KindError } from './errors.ts'
import { textKind } from './text-kind.ts'
import { weightsKind } from './weights-kind.ts'

/** The content of a base model, by its reference: what the initial value of weights rests on. */
export type BaseHashes = (base: string) => string

/** Declares a Parameter: its Kind, and the value that it begins with. */
export interface ParameterDefinition<M extends AnyKind = AnyKind> {
  /** The Kind's name. */
  readonly kind: string
  /** The Kind's module. */
  readonly of: M
  /** The value before anything is learned, as the Kind's schema has it. */
  initial(bases: BaseHashes): unknown
}

/** Declares an adapter on a base model: low-rank pairs, or a soft prompt. */
export interface WeightsDefinition extends ParameterDefinition<typeof weightsKind> {
  readonly kind: 'weights'
  /** The base model's reference, for example `minimind2-small`. */
  readonly base: string
  /** How it is trained where a run does not say. */
  readonly method: TrainingMethod
}

/** What `run` gets for a declared Parameter. */
export type HandleOf<D extends ParameterDefinition> = D extends { readonly of: infer M } ? HandleIn<M> : never

/**
 * An adapter on `base` that learning moves: a low-rank pair beside every projection.
 * @param options `rank`: of the pairs, ≥ 1; default 32. Their product is scaled by 1.
 */
export function weights({ base, rank = 32 }: { readonly base: string; readonly rank?: number }): WeightsDefinition {
  return trainedBy(base, { kind: 'lora', rank, alpha: rank })
}

/**
 * A soft prompt in front of `base` that learning moves (prompt tuning, Lester et al. 2021): vectors where the embeddings of
 * words would stand. Its value is an adapter like any other and its Decisions are words of the model, so that whatever trains,
 * gates, releases and serves weights does so with it.
 * @param options `length`: vectors, ≥ 1, each of which takes a position of the context; default 20. `initial`: a text that
 * they begin as; default: tokens of the vocabulary, drawn by the run's seed.
 */
export function softPrompt({
  base,
  length = 20,
  initial,
}: {
  readonly base: string
  readonly length?: number
  readonly initial?: string
}): WeightsDefinition {
  return trainedBy(base, { kind: 'prompt', length, ...(initial !== undefined && { initial }) })
}

const trainedBy = (base: string, method: TrainingMethod): WeightsDefinition => ({
  kind: 'weights',
  of: weightsKind,
  base,
  method,
  initial: (bases) => ({ base, baseHash: bases(base), adapter: null }),
})

/** A text that learning may rewrite: a prompt, a tool description, a playbook. */
export function text(initial: string): ParameterDefinition<typeof textKind> {
  return { kind: 'text', of: textKind, initial: () => ({ text: initial }) }
}

/**
 * A Parameter of any Kind.
 * @param kind the Kind's module.
 * @param initial the value that it begins with.
 * @throws KindError for a Kind whose name none can have, and for an initial value that its schema refuses.
 */
export function parameter<K extends string, Value, Made, Handle, Deposit>(
  kind: Kind<K, Value, Made, Handle, Deposit>,
  initial: Value,
): ParameterDefinition<Kind<K, Value, Made, Handle, Deposit>> {
  return { kind: kind.kind, of: kind, initial: () => initial }
}

/** What is wrong with a definition; `null`: nothing. */
export function problemOf(name: string, { kind, of }: Partial<ParameterDefinition>): KindError | null {
  if (of?.kind === kind && ParameterKind.safeParse(kind).success && typeof of?.handle === 'function') return null
  return new KindError({
    code: 'agent/unknown-kind',
    message: `The Parameter "${name}" is declared as "${kind}", and comes without a Kind of that name.`,
    hint: 'Declare it with weights(…), text(…), or parameter(kind, initial) of a Kind of your own.',
  })
}

/** The definition of an agent's `weights`, where a Parameter is one. */
export const asWeightsDefinition = (definition: ParameterDefinition | undefined): WeightsDefinition | null =>
  definition && 'base' in definition && 'method' in definition ? (definition as WeightsDefinition) : null

/** A user's message, for building conversations in `run`. */
export function user(content: string): Message {
  return { role: 'user', content }
}

/** Makes the handle that an agent uses from what is in force. */
export function bindParameter(name: string, { of }: ParameterDefinition, binding: ParameterBinding): unknown {
  return of.handle(binding, decisionRecorder(name, of, binding), name)
}
