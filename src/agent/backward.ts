import {
  branches,
  type Credit,
  type Decision,
  type Gradient,
  type GroupId,
  type NodeId,
  type ParameterName,
  type PolicySample,
  type Trajectory,
  type TrajectoryNode,
  type VersionId,
} from '../core/index.ts'

/** Trajectories with the Credits of their Decisions. */
export interface CreditedBatch {
  readonly trajectories: readonly Trajectory[]
  readonly credits: readonly Credit[]
}

/** A branch's tokens as one sample for one Parameter; nodes that an earlier branch trained are context only. */
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
  let temperature = 1
  let truncated = false
  for (const node of path) {
    const advantage = trained.has(node.id) ? undefined : advantageAt.get(node.id)
    for (const span of node.spans) {
      const learns = span.kind === 'sampled' && advantage !== undefined
      if (learns) {
        temperature = span.sampling.temperature
        truncated ||= span.sampling.truncated
      }
      span.tokens.forEach((token, i) => {
        tokens.push(token)
        sampled.push(learns)
        advantages.push(learns ? advantage : 0)
        behaviourLogprobs.push(learns ? (span.behaviourLogprobs[i] as number) : 0)
      })
    }
    if (advantage !== undefined) trained.add(node.id)
  }
  return { group, tokens, advantages, behaviourLogprobs, sampled, temperature, truncated }
}

interface CreditedDecision {
  readonly decision: Decision
  readonly credit: Credit
}

type Critique = Extract<Gradient, { kind: 'text' }>['critiques'][number]

const critiqueOf = ({ advantage, critique }: Credit): Critique => ({ advantage, critique: critique ?? null })

function weightsSamples(trajectory: Trajectory, decided: readonly CreditedDecision[]): readonly PolicySample[] {
  const advantageAt = new Map<NodeId, number>()
  for (const { decision, credit } of decided) {
    if (decision.output !== null && credit.advantage !== null) advantageAt.set(decision.output, credit.advantage)
  }
  const trained = new Set<NodeId>()
  return branches(trajectory)
    .map((path) => sampleOf(trajectory.group, path, advantageAt, trained))
    .filter((sample) => sample.sampled.some(Boolean))
}

const add = <T>(map: Map<string, T[]>, key: string, items: readonly T[]) => {
  map.set(key, [...(map.get(key) ?? []), ...items])
}

/**
 * Walks the recorded Decisions of a batch and leaves a Gradient on every Parameter that decided anything: token
 * advantages on weights, advantages and critiques on text. Decisions without credit (their reward is missing) deposit
 * nothing. A token that several branches share enters one sample only, so that each enters a loss once.
 */
export function backward({ trajectories, credits }: CreditedBatch): readonly Gradient[] {
  const creditOf = new Map(credits.map((credit) => [`${credit.trajectory} ${credit.decision}`, credit]))
  const owners = new Map<string, { kind: Decision['kind']; parameter: ParameterName; version: VersionId }>()
  const samples = new Map<string, PolicySample[]>()
  const critiques = new Map<string, Critique[]>()

  for (const trajectory of trajectories) {
    const byOwner = new Map<string, CreditedDecision[]>()
    for (const decision of trajectory.decisions) {
      const credit = creditOf.get(`${trajectory.id} ${decision.id}`)
      if (!credit) continue
      const { kind, parameter, version } = decision
      const owner = `${kind} ${parameter} ${version}`
      owners.set(owner, { kind, parameter, version })
      add(byOwner, owner, [{ decision, credit }])
    }
    for (const [owner, decided] of byOwner) {
      if (owners.get(owner)?.kind === 'weights') add(samples, owner, weightsSamples(trajectory, decided))
      else
        add(
          critiques,
          owner,
          decided.map(({ credit }) => critiqueOf(credit)),
        )
    }
  }

  return [...owners].flatMap(([owner, { kind, parameter, version }]): Gradient[] => {
    switch (kind) {
      case 'weights':
        return [{ kind, parameter, version, samples: samples.get(owner) ?? [] }]
      case 'text':
        return [{ kind, parameter, version, critiques: critiques.get(owner) ?? [] }]
      case 'skill':
      case 'memory':
      case 'choice':
      case 'program':
        return []
    }
  })
}
