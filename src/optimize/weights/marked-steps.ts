import type { Demonstration, NodeId, ParameterName, ScoredTrajectory, StepJudge } from '../../core/index.ts'
import { imitable, isExample } from './own-episodes.ts'

/** Which steps of own episodes are imitated. */
export interface MarkedStepsOptions {
  /** Says of each step whether it helped: a rule, or a model that reflects on the episode. */
  readonly judge: StepJudge
  /** What an episode has to earn to be imitated at all. */
  readonly ceiling: number
  /** The weights that imitate: what others said is context. Default: all that was sampled is theirs. */
  readonly parameter?: ParameterName
}

/**
 * Episodes that ended well, to be imitated without their mistakes: a step that is marked `bad` stays as context, so that what
 * puts it right is learned in the place where it is needed, and a step without a mark is imitated.
 *
 * Partial masking of self-reflected trajectories (STeP, Chen et al. 2025, "Training LLM-Based Agents with Synthetic
 * Self-Reflected Trajectories and Partial Masking"); of a wrong step, its observation and the refined one, AgentRefine (Fu et
 * al. 2025) has the same loss. An episode without an opinion is left out: nobody knows its mistakes.
 */
export async function markedSteps(
  scored: readonly ScoredTrajectory[],
  { judge, ceiling, parameter }: MarkedStepsOptions,
): Promise<readonly Demonstration[]> {
  const found: Demonstration[] = []
  for (const one of scored) {
    if (!isExample(one, ceiling)) continue
    const { trajectory, reward } = one
    const labels = await judge.label(trajectory, reward)
    if (labels === null) continue
    const bad = trajectory.steps.flatMap(({ action }, i): NodeId[] => (labels[i] === 'bad' ? [action] : []))
    found.push(...imitable(trajectory, { parameter, mistakes: new Set(bad) }))
  }
  return found
}
