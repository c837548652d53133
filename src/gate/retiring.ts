import { z } from 'zod'
import { type HoldoutUse, isPaired, ParameterName, type Receipt } from '../core/index.ts'
import { parseConfig, type PairedGateConfig } from './config.ts'
import { round } from './round.ts'

/** What a candidate gives up: everything that one Parameter learned. */
export interface RetirementClaim {
  readonly parameter: ParameterName
  /** How much of the mean reward may be lost by it, in units of the reward, above 0. */
  readonly loss: number
  /** Parameters of the agent that could be retired, this one among them. */
  readonly of: number
}

/**
 * The configuration of a gate that judges a retirement: a test of non-inferiority. The margin is negative, so that it is
 * promoted where the loss is shown to be less than that; guards, suites, coverage and alpha are those of any candidate.
 * There is no effect worth finding: nobody looks for a gain.
 * @throws GateError for a loss that is not above 0, or for no Parameters.
 */
export function retiringConfig(gate: PairedGateConfig, { parameter, loss, of }: RetirementClaim): PairedGateConfig {
  const { power: _, ...config } = gate
  return parseConfig({ ...config, margin: -round(loss), retiring: { parameter, of } })
}

/**
 * The level that a candidate is tested at: the alpha of the use. Where a Parameter is to be retired and the tasks were used
 * before, they may have told which one: leave-one-out measures each on them. So the alpha is shared among all that could
 * be, and by the union bound the probability of retiring any of them wrongly is at most that of the use, whichever was
 * picked.
 */
export const levelOfUse = ({ retiring }: Pick<PairedGateConfig, 'retiring'>, { use, alpha }: HoldoutUse): number =>
  retiring && use > 1 ? alpha / retiring.of : alpha

/** The ends of three sentences that begin with the interval: it may go, it may not, and neither is shown. */
export interface Words {
  readonly promotes: string
  readonly rejects: string
  readonly open: string
}

/** What a gate with this margin says. */
export function wordsOf({ margin, retiring }: Pick<PairedGateConfig, 'margin' | 'retiring'>): Words {
  if (retiring) {
    const without = `without what "${retiring.parameter}" learned`
    return {
      promotes: `: ${without} less than ${-margin} is lost, so it can be retired.`,
      rejects: `: ${without} more than ${-margin} is lost, so it stays.`,
      open: `, which does not yet tell whether ${-margin} is lost ${without}: it stays.`,
    }
  }
  return {
    promotes: `: the candidate is better by more than the margin ${margin}.`,
    rejects: `: the candidate is worse than ${margin >= 0 ? 'the baseline' : `the margin ${margin}`}.`,
    open: `, which does not yet tell it from the margin ${margin}.`,
  }
}

/** What is read of the configuration in a receipt. */
const Retires = z.object({ retiring: z.object({ parameter: ParameterName }) })

/** The Parameter that a receipt's candidate gives up what it learned of; `null` for any other candidate. */
export function retiredIn(receipt: Receipt): ParameterName | null {
  const parsed = isPaired(receipt) ? Retires.safeParse(receipt.gate.config) : null
  return parsed?.success ? parsed.data.retiring.parameter : null
}

/**
 * Tasks that show that less than a share of the range of rewards is lost, where all go alike with and without: (1 − share)^n
 * is the p-value of n of them, the chance that the pessimistic observation of {@link meanAbove} weighs as much as the share.
 */
export const tasksToRetire = (share: number, alpha: number): number => Math.ceil(Math.log(alpha) / Math.log1p(-share))
