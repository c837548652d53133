import type { Components } from './component.ts'
import { type Bounds, type Refusal, refusalOf } from './refusal.ts'
import { instructsModel } from './screen.ts'
import { fenced } from './writer.ts'

/** What a writer's answer is judged by. */
export interface Rewriting {
  readonly components: Components
  /** The text that one part of was to be written anew, and which part. */
  readonly parent: string
  readonly part: number
  readonly bounds: Bounds
  /** Whether a text was attempted before. */
  readonly knows: (text: string) => boolean
}

/** The text that a writer's answer makes of its parent, or why that may not even be attempted. */
export function rewritten(
  answer: string | null,
  { components, parent, part, bounds, knows }: Rewriting,
): { readonly text: string } | { readonly refusal: Refusal } {
  const words = answer === null ? null : fenced(answer)
  if (words === null) return { refusal: 'unreadable' }
  const text = components.replaced(parent, part, words)
  if (text === null) return { refusal: 'locked' }
  if (text === parent || knows(text)) return { refusal: 'unchanged' }
  if (instructsModel(text) && !instructsModel(parent)) return { refusal: 'instructs' }
  const refusal = refusalOf(text, bounds)
  return refusal === null ? { text } : { refusal }
}
