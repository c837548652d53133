import type { Decided, Trajectory } from '../../core/index.ts'
import { type Lived, lived } from '../lived.ts'
import type { FittingSkill, SeenCall, SkillMade } from './made.ts'

/** A run of a skill in an episode. */
export interface SkillUse {
  readonly id: string
  readonly run: number
  /** The code of the error that it ended with. */
  readonly error: string | null
}

/** What one episode leaves for skills: what was asked, offered, called and answered, and what came of it. */
export interface SkillExperience extends Lived {
  /** What was asked. */
  readonly cue: string
  /** The model that acted, as it was named. */
  readonly model: string | null
  readonly skills: readonly FittingSkill[]
  /** Whether chance left all of them out. */
  readonly bare: boolean
  readonly uses: readonly SkillUse[]
  /** Every call of the episode, in order; empty where it was forked: calls of several ways do not make one. */
  readonly calls: readonly SeenCall[]
}

/** What one Version of skills decided in a trajectory, as one experience; none, where it was never asked. */
export function skillExperiences(
  decided: readonly Decided<SkillMade>[],
  trajectory: Trajectory,
): readonly SkillExperience[] {
  const offers = decided.flatMap(({ made, credit }) => (made.did === 'offer' ? [{ made, credit }] : []))
  const [first] = offers
  if (!first) return []
  const seen = decided.flatMap(({ made }) => (made.did === 'saw' ? [made] : []))
  const forked = seen.some(({ fork }) => fork > 0)
  return [
    {
      ...lived(trajectory, first.credit),
      cue: first.made.query,
      model: first.made.model,
      skills: onceEach(offers.flatMap(({ made }) => made.skills)),
      bare: first.made.bare,
      uses: decided.flatMap(({ made }) =>
        made.did === 'call' ? [{ id: made.id, run: made.run, error: made.error }] : [],
      ),
      calls: forked ? [] : seen.flatMap(({ calls }) => calls),
    },
  ]
}

/** A skill that several offers of an episode were about was drawn once, and counts once. */
function onceEach(skills: readonly FittingSkill[]): readonly FittingSkill[] {
  return [...new Map(skills.toReversed().map((one) => [one.id, one])).values()]
}
