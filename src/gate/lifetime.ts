import type { CandidateLevel, LevelRepository, LifetimeAlpha } from '../core/index.ts'

/** Sum of k^-1.5 over all k: the Riemann zeta function at 1.5. */
const zeta = 2.612_375_348_685_488

/** The share of candidate t: all shares together are 1. It falls slowly, so that late candidates can still be promoted. */
const shareOf = (candidate: number): number => candidate ** -1.5 / zeta

/**
 * The level of an agent's next candidate. Under `fwer` its share of alpha, γ(t) = t^-1.5 / ζ(1.5): by the union bound the
 * probability of any wrong promotion is at most alpha. Under `fdr` that share once more for each earlier promotion, which
 * is e-LOND (Xu and Ramdas, Online multiple testing with e-values, AISTATS 2024): the expected share of wrong promotions
 * among all is at most alpha, at any time and whatever the tests have to do with each other. A wrong candidate t adds at
 * most 1/(promotions before it + 1) to that share, and only if its e-value E reaches 1/level. So it adds at most
 * E · level/(promotions before it + 1) = E · alpha · γ(t); E is expected to be at most 1, and the γ add up to 1.
 *
 * A retirement ({@link retiringConfig}) draws a number and a level as any candidate does, and counts as no earlier promotion:
 * the sum above holds whatever is counted, as long as no more is counted than was promoted. So what is at most alpha is the
 * share of wrong ones among the promotions that showed a gain, and among all, with retirements.
 *
 * It holds for tests whose e-value is expected to be at most 1, or whose p-value is at most u with probability at most u,
 * given all that was known when the candidate's number was drawn; tests of several candidates may run at once.
 */
export function levelOf({ alpha, control }: LifetimeAlpha, candidate: number, promotions: number): number {
  return alpha * shareOf(candidate) * (control === 'fdr' ? promotions + 1 : 1)
}

/** What a level is claimed for. */
export interface LevelClaim {
  readonly agent: string
  /** Names what is tested: all tests of one candidate are claimed by one key, and get one level. */
  readonly key: string
  readonly lifetime: LifetimeAlpha
  /** Milliseconds since the epoch. */
  readonly at: number
}

/**
 * Writes the level of a candidate down before its first outcome is looked at, and then gives it; asked again, gives the
 * same. To be called in a transaction.
 */
export async function claimLevel(
  levels: LevelRepository,
  { agent, key, lifetime, at }: LevelClaim,
): Promise<CandidateLevel> {
  const known = await levels.get(agent, key)
  if (known) return known
  const candidate = ((await levels.latest(agent))?.candidate ?? 0) + 1
  const promotions = await levels.countPromoted(agent)
  const alpha = levelOf(lifetime, candidate, promotions)
  const level = { agent, candidate, key, alpha, promotions, promoted: false, at }
  await levels.put(level)
  return level
}

/** For people: what a candidate was tested at, and why. */
export function levelInWords({
  candidate,
  promotions,
  alpha,
}: Pick<CandidateLevel, 'candidate' | 'promotions' | 'alpha'>): string {
  return `It is candidate ${candidate} of the agent, after ${promotions} ${promotions === 1 ? 'promotion' : 'promotions'}: its level is ${Number(alpha.toPrecision(3))}.`
}
