import {
  actedIn,
  branches,
  type CreditedDecision,
  type DepositRule,
  type GroupId,
  type NodeId,
  type PolicySample,
  type TrajectoryNode,
} from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'

/**
 * What decisions of a `weights` Parameter deposit: each root-to-leaf branch as a sample, with the advantages of the tokens
 * that were decided. A token that several branches share enters one sample only, so that each enters a loss once.
 */
export const policySamples: DepositRule<'weights', PolicySample> = {
  kind: 'weights',
  /** @throws InvariantError for a sample whose tokens were drawn at different temperatures. */
  deposit: (trajectory, decided) => {
    const advantageAt = advantagesOf(decided)
    const trained = new Set<NodeId>()
    const acted = Object.fromEntries([...actedIn(trajectory)].map(([parameter, ids]) => [parameter, [...ids]]))
    const earned = decided.at(-1)?.credit.utility
    return branches(trajectory)
      .map((path) => ({
        ...sampleOf(trajectory.group, path, advantageAt, trained),
        trajectory: trajectory.id,
        acted,
        ...(earned !== undefined && { earned }),
      }))
      .filter((sample) => sample.sampled.some(Boolean))
  },
}

function advantagesOf(decided: readonly CreditedDecision[]): ReadonlyMap<NodeId, number> {
  return new Map(
    decided.flatMap(({ decision, credit }) =>
      decision.output !== null && credit.advantage !== null ? [[decision.output, credit.advantage] as const] : [],
    ),
  )
}

/**
 * A branch's tokens as one sample for one Parameter. Nodes that an earlier branch trained are context only, and so are
 * tokens whose behaviour log-probabilities are not known.
 */
function sampleOf(
  group: GroupId,
  path: readonly TrajectoryNode[],
  advantageAt: ReadonlyMap<NodeId, number>,
  trained: Set<NodeId>,
): PolicySample {
  const tokens: number[] = []
  const advantages: number[] = []
  const behaviourLogprobs: number[] = []
  const sampled: boolean[] = []
  const recalled: boolean[] = []
  let temperature: number | null = null
  let truncated = false
  for (const node of path) {
    const advantage = trained.has(node.id) ? undefined : advantageAt.get(node.id)
    for (const span of node.spans) {
      const behaviour = span.kind === 'sampled' && advantage !== undefined ? span.behaviourLogprobs : null
      const learns = behaviour !== null
      if (learns && span.kind === 'sampled') {
        temperature ??= span.sampling.temperature
        truncated ||= span.sampling.truncated
        if (span.sampling.temperature !== temperature) {
          throw new InvariantError(
            `one sample was drawn at temperatures ${temperature} and ${span.sampling.temperature}`,
          )
        }
      }
      span.tokens.forEach((token, i) => {
        tokens.push(token)
        sampled.push(learns)
        recalled.push(span.kind === 'encoded' && span.recalled === true)
        advantages.push(learns ? (advantage as number) : 0)
        behaviourLogprobs.push(behaviour?.[i] ?? 0)
      })
    }
    if (advantage !== undefined) trained.add(node.id)
  }
  const sample = { group, tokens, advantages, behaviourLogprobs, sampled, temperature: temperature ?? 1, truncated }
  return recalled.includes(true) ? { ...sample, recalled } : sample
}
