import { type Canary, type CanaryArm, sha256, type Trajectory } from '../core/index.ts'
import { CanaryConfig } from '../gate/index.ts'
import { Trust } from '../reward/index.ts'

/** Read once, as each request asks. */
const known = new WeakMap<Pick<Canary, 'gate'>, Trust | null>()

/** Whose word for who somebody is a canary takes, by the rules that it began with; `null` where it draws each session. */
export function trustOf(canary: Pick<Canary, 'gate'>): Trust | null {
  const found = known.get(canary)
  if (found !== undefined) return found
  const { data } = CanaryConfig.shape.people.safeParse(canary.gate.config['people'])
  const trust = data ? new Trust(data.trusted) : null
  known.set(canary, trust)
  return trust
}

/** Below this, a probability is what rounding left of 0. */
const rounding = 1e-9

/** What keeps a person in the list of who decided a session, beside its reporters. */
const prefix = 'person '

/** Where a person's place may lie, by the arms that they have had. */
interface Places {
  readonly low: number
  readonly high: number
}

/**
 * With which probability each session of a canary got its arm, given what was judged before it. All sessions of a person
 * rest on one draw, so that only the first of them is random at a share: the others have a probability of 1, and the tests,
 * which take the arm for random, leave them out. When the share rises from s to t, a person who had the baseline is drawn
 * again: they get the candidate with probability (t − s)/(1 − s). So each test goes on resting on the randomised assignment
 * alone, whatever the sessions of one person have in common.
 */
export class PeopleSeen {
  readonly #trust: Trust
  readonly #salt: string
  readonly #places = new Map<string, Places>()

  constructor(trust: Trust, salt: string) {
    this.#trust = trust
    this.#salt = salt
  }

  /**
   * Takes the next session.
   * @param propensity of its arm, as if its person were new.
   * @returns that of its arm given the sessions before, and under which name it is kept; `null` for nobody known.
   */
  take(
    { origin }: Pick<Trajectory, 'origin'>,
    arm: CanaryArm,
    propensity: number,
  ): { readonly propensity: number; readonly name: string } | null {
    const person = origin.kind === 'traffic' ? this.#trust.personOf(origin) : null
    if (person === null) return null
    const name = prefix + sha256(JSON.stringify(['person', this.#salt, person])).slice(0, 16)
    const { low, high } = this.#placesOf(name)
    const share = arm === 'candidate' ? propensity : 1 - propensity
    const chance = (share - low) / (high - low)
    if (!isRandom(chance)) return { propensity: 1, name }
    this.#see(name, arm, chance)
    return { propensity: arm === 'candidate' ? chance : 1 - chance, name }
  }

  /**
   * Counts a session that was taken before.
   * @param deciders who decided it, of whom one may be a person's name.
   */
  resume(deciders: readonly string[], arm: CanaryArm, propensity: number): void {
    const name = deciders.find((decider) => decider.startsWith(prefix))
    const chance = arm === 'candidate' ? propensity : 1 - propensity
    if (name !== undefined && isRandom(chance)) this.#see(name, arm, chance)
  }

  #see(name: string, arm: CanaryArm, chance: number): void {
    const { low, high } = this.#placesOf(name)
    const share = low + chance * (high - low)
    this.#places.set(name, arm === 'candidate' ? { low, high: share } : { low: share, high })
  }

  #placesOf(name: string): Places {
    return this.#places.get(name) ?? { low: 0, high: 1 }
  }
}

function isRandom(chance: number): boolean {
  return chance > rounding && chance < 1 - rounding
}
