import {
  branches,
  type Demonstration,
  type NodeId,
  type ParameterName,
  type ScoredTrajectory,
  type Trajectory,
  wasSaid,
} from '../../core/index.ts'

/** Whether an episode may be imitated: it came to its own end, and earned all there is (invariant 5). */
export const isExample = (one: ScoredTrajectory, ceiling: number): boolean =>
  isWhole(one) && one.reward.value >= ceiling

/** Whether an episode came to its own end and was scored: what broke, was cut or vetoed is no example of anything. */
export function isWhole(
  one: ScoredTrajectory,
): one is ScoredTrajectory & { readonly reward: { readonly status: 'scored'; readonly value: number } } {
  return one.trajectory.stopReason === 'done' && one.reward.status === 'scored'
}

/** What of an episode is imitated. */
export interface Imitated {
  /** The weights that imitate: what others said is context. Default: all that was sampled is theirs. */
  readonly parameter?: ParameterName | undefined
  /** Nodes that are read and not imitated. */
  readonly mistakes?: ReadonlySet<NodeId>
}

/**
 * What weights said in an episode, to be imitated: a sequence of each branch in which they said anything. What an earlier
 * branch holds is context in a later one.
 */
export function imitable(
  trajectory: Trajectory,
  { parameter, mistakes = new Set() }: Imitated = {},
): readonly Demonstration[] {
  const held = new Set<NodeId>(mistakes)
  const own = saidBy(trajectory, parameter)
  return branches(trajectory)
    .map((path) => {
      const spans = path.flatMap(({ id, spans }) =>
        spans.map((span) => ({ ...span, learned: own(id) && !held.has(id) && wasSaid(span) })),
      )
      for (const { id } of path) held.add(id)
      return {
        tokens: spans.flatMap(({ tokens }) => [...tokens]),
        learn: spans.flatMap(({ tokens, learned }) => tokens.map(() => learned)),
      }
    })
    .filter(({ learn }) => learn.includes(true))
}

/** Says of a message whether a Parameter's weights said it; without a Parameter, of all. */
export function saidBy(
  { decisions }: Pick<Trajectory, 'decisions'>,
  parameter: ParameterName | undefined,
): (node: NodeId) => boolean {
  if (parameter === undefined) return () => true
  const said = new Set(
    decisions.flatMap((made) => (made.parameter === parameter && made.output !== null ? [made.output] : [])),
  )
  return (node) => said.has(node)
}

/** Whether weights said anything in an episode, and these said all of it. */
export function saidAll({ nodes, decisions }: Trajectory, parameter: ParameterName): boolean {
  const own = saidBy({ decisions }, parameter)
  const said = nodes.filter(({ spans }) => spans.some(wasSaid))
  return said.length > 0 && said.every(({ id }) => own(id))
}
