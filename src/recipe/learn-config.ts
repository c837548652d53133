import { z } from 'zod'
import { LifetimeAlpha, PrecisionChoice } from '../core/index.ts'
import { policyKeys, PolicyLossName, recipe, Schedule } from '../learn/index.ts'
import { TinkerServer } from '../model/tinker/index.ts'

/**
 * What `ratchet learn` reads from `--config FILE` (JSON). Every key has a default: the defaults are the main job, a
 * 26M-parameter model that learns to answer questions from documents with tools.
 */
export const LearnConfig = z.strictObject({
  /** The agent's name in the store. */
  agent: z.string().default('librarian'),
  /** `minimind2-small`, the name of a pulled model, or the path of a Hugging Face folder or GGUF file. */
  model: z.string().default('minimind2-small'),
  /** A server that speaks the Tinker protocol and has the model, in the place of the embedded engine. */
  server: TinkerServer.exactOptional(),
  /** What the model's projections are multiplied in. */
  precision: PrecisionChoice.default('auto'),
  /** How conversations are laid out: the compact one-line form, or the model's own chat template. */
  renderer: z.enum(['compact', 'template']).default('compact'),
  environment: z
    .strictObject({
      /** `mdn`, or the path of a JSONL file of documents. */
      corpus: z.string().default('mdn'),
      /** JSONL file of tasks; required for a corpus of your own. */
      tasks: z.string().optional(),
      /** `mdn` only: features with titles of more tokens than this are left out. */
      maxTitleTokens: z.int().positive().default(12),
      /** The tiers to learn from. Of own tasks the others are measured beside; of `mdn` the same in held-out wordings. */
      tiers: z.array(z.string()).min(1).optional(),
    })
    .prefault({}),
  /** How many demonstrations of the scripted expert to start from; or a JSONL file of `{ "messages": [...] }`. */
  demonstrations: z.union([z.int().nonnegative(), z.string()]).default(32),
  adapter: z
    .strictObject({
      rank: z.int().positive().max(512).default(32),
      /** The adapter's product is scaled by alpha / rank; by default, by 1. */
      alpha: z.number().positive().exactOptional(),
    })
    .prefault({}),
  prime: z
    .strictObject({
      learningRate: z.number().positive().default(recipe.supervised.learningRate),
      batchSize: z.int().positive().default(recipe.supervised.batchSize),
    })
    .prefault({}),
  policy: z
    .strictObject({
      loss: PolicyLossName.default(recipe.policy.loss),
      credit: z.enum(['group-mean', 'grpo', 'leave-one-out']).default('grpo'),
      learningRate: z.number().positive().default(recipe.policy.learningRate),
      warmupUpdates: z.int().nonnegative().default(recipe.policy.warmupUpdates),
      /** The rate falls linearly towards 0 at this update; by default, with what still fails. */
      decayUpdates: z.int().positive().exactOptional(),
      minibatches: z.int().positive().default(recipe.policy.minibatches),
      /** Bounds on the probability ratio; by default [0.8, 1.2] for `ppo`, [0, 3] for `cispo`, [0.9997, 1.0004] for `gspo`. */
      clipLow: z.number().nonnegative().exactOptional(),
      clipHigh: z.number().positive().exactOptional(),
      gradClipNorm: z.number().positive().default(recipe.policy.gradClipNorm),
      ...policyKeys,
      /** Keeps the policy near the base model. */
      kl: z
        .strictObject({
          /** What a nat of divergence costs, in the reward's unit. */
          weight: z.number().positive(),
          in: z.enum(['reward', 'loss']),
          /** `reward` only: how much a token answers for what later ones diverge. */
          discount: z.number().min(0).max(1).exactOptional(),
        })
        .exactOptional(),
    })
    .prefault({}),
  /** Bounds of one episode; what is left out follows from the longest demonstration. */
  episode: z
    .strictObject({
      turns: z.int().positive().exactOptional(),
      tokensPerTurn: z.int().positive().exactOptional(),
      malformedCalls: z.int().positive().exactOptional(),
      toolErrors: z.int().positive().exactOptional(),
    })
    .prefault({}),
  schedule: Schedule.prefault({}),
  gate: z
    .strictObject({
      margin: z.number().min(0).default(recipe.gate.margin),
      alpha: z.number().positive().max(0.25).default(recipe.gate.alpha),
      lifetime: LifetimeAlpha.nullable().prefault({}),
    })
    .prefault({}),
})
export type LearnConfig = z.infer<typeof LearnConfig>
