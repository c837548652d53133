import { z } from 'zod'
import { type Embedder, parseInput } from '../../core/index.ts'
import type { ChoiceHandle } from '../choice/choice-kind.ts'
import { lexicalEmbedder } from '../memory/lexical.ts'
import { type Form, formOrder } from './form.ts'
import type { ToolRetrieval } from './tool-offer.ts'

/** How a context is kept within a budget. */
export interface ContextOptions {
  /** The most tokens that a policy call reads, ≥ 1. Default: as many as the model can, with room for its turn. */
  readonly budget?: number
  /**
   * Where a context is full, older turns are folded down to this share, in [0, 1), of what the opening and the last turns leave
   * of the budget. Default 0.5. The lower, the seldomer it changes, and the more often caches of prompts hold; the more is folded.
   */
  readonly low?: number
  /** The last turns, which are folded only where there is no other way; ≥ 1. Default 2. */
  readonly keepTurns?: number
  /** Characters that an excerpt keeps, ≥ 16. Default 400. */
  readonly excerpt?: number
  /** What may be done to results of older turns. Default: excerpts, then stubs, then whole turns are dropped. */
  readonly forms?: readonly Exclude<Form, 'whole'>[]
  /** Whether the policy gets the tool `read_back`, which shows again what was folded. Default true. */
  readonly readBack?: boolean
  /** The handle of a {@link keepPolicy}, which decides what stays. Default: the oldest results are folded first. */
  readonly keep?: ChoiceHandle
  /**
   * Offers a few tools of many, and the tool `find_tools` for the others. `offer`: how many, by what is asked, default 8;
   * `always`: names of tools that are offered whatever is asked. Default: all tools are offered.
   */
  readonly tools?: { readonly offer?: number; readonly always?: readonly string[] }
  /** Tells what is like what, for `tools` and `keep`. Default: `lexicalEmbedder()`. */
  readonly embedder?: Embedder
}

/** Settings of a context manager, made by {@link context}. */
export interface Context extends Required<Omit<ContextOptions, 'budget' | 'keep' | 'tools'>> {
  readonly budget: number | null
  readonly keep: ChoiceHandle | null
  readonly tools: ToolRetrieval | null
}

const Settings = z.strictObject({
  budget: z.int().positive().nullable().default(null),
  low: z.number().min(0).lt(1).default(0.5),
  keepTurns: z.int().positive().default(2),
  excerpt: z.int().min(16).default(400),
  forms: z.array(z.enum(formOrder).exclude(['whole'])).default(['excerpt', 'stub', 'dropped']),
  readBack: z.boolean().default(true),
  tools: z
    .strictObject({ offer: z.int().positive().default(8), always: z.array(z.string()).default([]) })
    .nullable()
    .default(null),
})

/**
 * Keeps what a model reads within a budget, for `act`: older tool results are folded when the context is full, and can be
 * read back.
 * @throws InputError for an option out of its range.
 */
export function context({ keep, embedder = lexicalEmbedder(), ...options }: ContextOptions = {}): Context {
  return { ...parseInput(Settings, options, 'The options of context'), keep: keep ?? null, embedder }
}
