import type { Message } from '../core/index.ts'
import type { ParameterBinding } from './binding.ts'
import { TextParameter } from './text-parameter.ts'
import { WeightsParameter } from './weights-parameter.ts'

/** Declares an adapter on a base model. */
export interface WeightsDefinition {
  readonly kind: 'weights'
  /** The base model's reference, for example `minimind2-small`. */
  readonly base: string
  /** Rank of the low-rank adapter, ≥ 1; default 32. */
  readonly rank: number
}

/** Declares a learnable text: a prompt, a tool description, a playbook. */
export interface TextDefinition {
  readonly kind: 'text'
  readonly initial: string
}

/** The kinds that can be declared today. `skill`, `memory`, `choice` and `program` join here, each with its handle. */
export type ParameterDefinition = WeightsDefinition | TextDefinition

/** What `run` gets for a declared Parameter. */
export type HandleOf<D extends ParameterDefinition> = D extends WeightsDefinition ? WeightsParameter : TextParameter

/** An adapter on `base` that learning moves. */
export function weights(options: { readonly base: string; readonly rank?: number }): WeightsDefinition {
  return { kind: 'weights', base: options.base, rank: options.rank ?? 32 }
}

/** A text that learning may rewrite. */
export function text(initial: string): TextDefinition {
  return { kind: 'text', initial }
}

/** A user's message, for building conversations in `run`. */
export function user(content: string): Message {
  return { role: 'user', content }
}

/** Makes the handle that an agent uses from the values in force. */
export function bindParameter(name: string, binding: ParameterBinding): WeightsParameter | TextParameter {
  switch (binding.kind) {
    case 'weights':
      return new WeightsParameter(name, binding)
    case 'text':
      return new TextParameter(name, binding)
  }
}
