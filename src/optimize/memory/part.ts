import type { CameTo, Experience, MemoryItem } from '../../agent/index.ts'
import type { Json, Metrics, Rng } from '../../core/index.ts'
import type { Collection } from './collection.ts'

/** An experience with what it says of itself: how it went, from -1 to 1. */
export interface Outcome extends CameTo {
  readonly experience: Experience
}

/** What a part of learning is given in one step. */
export interface PartContext {
  readonly collection: Collection
  /** Items as they were when the step began, by id: what they say now may hold what these episodes earned. */
  readonly before: { get(id: string): MemoryItem | undefined }
  /** In the order in which they began. */
  readonly outcomes: readonly Outcome[]
  /** Whether what a person's session taught reaches that person alone, or everybody of the tenant. */
  readonly share: 'subject' | 'tenant'
  /** Milliseconds after which what an episode taught is forgotten; `null`: not by age. */
  readonly forgetAfter: number | null
  /** The time of the newest outcome, in milliseconds since the epoch, 0 without outcomes: learning depends on no clock. */
  readonly at: number
  readonly rng: Rng
}

/** When what was learned at a moment is forgotten; `null`: not by age. */
export const expiryOf = (learnedAt: number, { forgetAfter }: Pick<PartContext, 'forgetAfter'>): number | null =>
  forgetAfter === null ? null : learnedAt + forgetAfter

/** One way in which a memory learns from a batch; several work on one memory, one after the other. */
export interface MemoryPart {
  readonly name: string
  /** @param saved what it saved last. */
  open(saved: Json | null): OpenMemoryPart
}

/** A part in a session. */
export interface OpenMemoryPart {
  step(context: PartContext): Promise<Metrics>
  save(): Json
}

/** A part that knows nothing beside the items. */
export const stateless = (name: string, step: OpenMemoryPart['step']): MemoryPart => ({
  name,
  open: () => ({ step, save: () => null }),
})
