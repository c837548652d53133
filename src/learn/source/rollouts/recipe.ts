import type { z } from 'zod'
import { type Agent, defaultBudget, type EpisodeBudget } from '../../../agent/index.ts'
import { grpo } from '../../../credit/index.ts'
import { type PairedGateConfig, pairedGate } from '../../../gate/index.ts'
import { type PolicyGradientOptions, policyGradient, type SupervisedOptions } from '../../../optimize/weights/index.ts'
import { forAllWeights } from '../../run/parameter.ts'
import type { RenderedDemonstration } from './demonstrations.ts'
import type { Complete, RolloutOptions } from '../../options.ts'
import { direct } from '../../release-plan.ts'
import type { Settling } from '../../steer/index.ts'

/**
 * The one recipe: what every piece of a run is, where nothing else is given. The same for `npm start`, `ratchet learn` and
 * {@link learn}. How long it imitates, which tasks it attempts and how far it steps, a run decides by what it sees; the
 * bounds of that are the {@link Schedule}'s defaults.
 */
export const recipe = {
  /** Imitation of the demonstrations. */
  supervised: { learningRate: 6e-4, batchSize: 8 } satisfies SupervisedOptions,
  /** Practice. The more succeeds, the smaller its steps. */
  policy: {
    loss: 'cispo',
    learningRate: 6e-4,
    warmupUpdates: 4,
    minibatches: 2,
    gradClipNorm: 1,
  } satisfies PolicyGradientOptions,
  /** How the steps of both fall with what still fails. */
  settling: {
    imitation: { least: 0.2, slope: 2.5 },
    practice: { least: 0.3, slope: 5 },
  } satisfies Record<string, Settling>,
  /** What a candidate has to show. */
  gate: {
    margin: 0.02,
    alpha: 0.05,
    guards: {
      brokenCalls: { allowed: 0.02, range: [0, 1] },
      unfinished: { allowed: 0.02, range: [0, 1] },
    },
  } satisfies z.input<typeof PairedGateConfig>,
} as const

/** Fills in from the {@link recipe} what a run's options leave open, but the budget, which the demonstrations decide. */
export function completed(
  agent: Agent,
  options: RolloutOptions,
): Complete<RolloutOptions> & Required<Pick<RolloutOptions, 'gate'>> {
  const prime = options.prime && { ...options.prime, supervised: { ...recipe.supervised, ...options.prime.supervised } }
  return {
    ...options,
    ...(prime ? { prime } : {}),
    credit: options.credit ?? grpo(),
    optimize: options.optimize ?? forAllWeights(agent, policyGradient(recipe.policy)),
    gate: options.gate ?? pairedGate(recipe.gate),
    release: options.release ?? direct(),
  }
}

/** Room over what the longest demonstration needs. */
const room = 1.5

/** A budget with what is given, else what the demonstrations need, else {@link defaultBudget}. */
export function budgetWith(
  given: Partial<EpisodeBudget>,
  demonstrations: readonly RenderedDemonstration[],
): EpisodeBudget {
  const budget = { ...(budgetFor(demonstrations) ?? defaultBudget), ...given }
  const lengthened = given.tokens === undefined && (given.turns ?? given.tokensPerTurn) !== undefined
  return lengthened ? { ...budget, tokens: Math.max(budget.tokens, budget.turns * budget.tokensPerTurn) } : budget
}

/**
 * A budget in which everything demonstrated fits, with half as much again: a longer episode is a policy that went astray.
 * `null` without demonstrations.
 */
export function budgetFor(demonstrations: readonly RenderedDemonstration[]): EpisodeBudget | null {
  if (demonstrations.length === 0) return null
  const most = (counts: readonly number[]) => counts.reduce((a, b) => Math.max(a, b), 0)
  const withRoom = (counts: readonly number[]) => Math.ceil(room * most(counts))
  const turns = withRoom(demonstrations.map((one) => one.turns)) + 1
  const tokensPerTurn = withRoom(demonstrations.flatMap(actLengths)) + 4
  const toolErrors = toolErrorsFor(most(demonstrations.map(({ refused }) => refused)))
  return { turns, tokensPerTurn, tokens: turns * tokensPerTurn, malformedCalls: 1, toolErrors }
}

/** The refused call at which an episode ends, where the demonstration with most of them makes so many. */
export const toolErrorsFor = (refused: number): number =>
  Math.max(defaultBudget.toolErrors, Math.ceil(room * refused) + 1)

/** Tokens of each act of a demonstration that is imitated. */
function actLengths({ learn }: RenderedDemonstration): readonly number[] {
  const lengths: number[] = []
  for (const [t, acted] of learn.entries()) {
    if (!acted) continue
    if (learn[t - 1]) lengths.push((lengths.pop() ?? 0) + 1)
    else lengths.push(1)
  }
  return lengths
}
