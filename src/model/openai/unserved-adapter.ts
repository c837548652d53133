import type { TrainerPath } from '../../core/index.ts'
import { isUpstreamFailure, UpstreamError } from '../http/upstream-error.ts'

/** An upstream cannot answer with an adapter that it was asked to answer with. Nothing of an answer has come. */
export class UnservedAdapterError extends UpstreamError {
  /**
   * @param kind `refused` where it never will (it serves no adapters, or this one is over another model), `broken` where
   * it should have and failed.
   */
  constructor(details: {
    readonly kind: 'refused' | 'broken'
    readonly upstream: string
    /** Ends the sentence "The upstream x cannot answer with an adapter: …". */
    readonly problem: string
    readonly hint: string
    readonly cause?: unknown
  }) {
    const { problem, ...more } = details
    super({
      code: 'model/adapter-not-served',
      message: `The upstream ${details.upstream} cannot answer with an adapter: ${problem}.`,
      ...more,
    })
  }
}

/** Whether a request failed because its weights cannot be had, and not by what it asked. */
export function isUnservedAdapter(error: unknown): boolean {
  return isUpstreamFailure(error) && error.code === 'model/adapter-not-served'
}

/** For an upstream that knows nothing of adapters. */
export function servesNoAdapters(upstream: string): UnservedAdapterError {
  return new UnservedAdapterError({
    kind: 'refused',
    upstream,
    problem: 'it serves none',
    hint: 'Use the embedded engine, a Tinker server, or vLLM with adapters set to "vllm"; or let the agent learn texts only.',
  })
}

/** For an adapter that was made over another model than the upstream's. */
export function otherBase(upstream: string, wanted: string, served: string): UnservedAdapterError {
  return new UnservedAdapterError({
    kind: 'refused',
    upstream,
    problem: `the adapter is one over ${wanted}, and the upstream serves ${served}`,
    hint: 'Give the agent the model that it learned with, or a new name, under which it begins anew.',
  })
}

/** For an adapter that only its trainer's server has. */
export function keptElsewhere(upstream: string, { uri }: TrainerPath): UnservedAdapterError {
  return new UnservedAdapterError({
    kind: 'refused',
    upstream,
    problem: `it is kept at its trainer, as ${uri.slice(0, 200)}`,
    hint: 'Serve it from that server: an upstream with the url "tinker" (docs/trainers.md); or export it from there and import it.',
  })
}

/** For an adapter that could not be loaded. */
export function notLoaded(upstream: string, cause: unknown): UnservedAdapterError {
  return new UnservedAdapterError({
    kind: 'broken',
    upstream,
    problem: `loading it failed: ${(cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '')}`,
    hint: 'The log has the cause. Rolling back serves the agent as it was before: `ratchet rollback`.',
    cause,
  })
}
