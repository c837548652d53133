import {
  branches,
  type Credit,
  type Decision,
  type Gradient,
  type GroupId,
  type NodeId,
  type PolicySample,
  type Trajectory,
  type TrajectoryNode,
} from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'

/** Trajectories with the Credits of their Decisions. */
export interface CreditedBatch {
  readonly trajectories: readonly Trajectory[]
  readonly credits: readonly Credit[]
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
        advantages.push(learns ? (advantage as number) : 0)
        behaviourLogprobs.push(behaviour?.[i] ?? 0)
      })
    }
    if (advantage !== undefined) trained.add(node.id)
  }
  return { group, tokens, advantages, behaviourLogprobs, sampled, temperature: temperature ?? 1, truncated }
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

/** What a batch deposits on one Version of one Parameter. */
interface Deposit {
  readonly owner: Pick<Decision, 'kind' | 'parameter' | 'version'>
  readonly samples: PolicySample[]
  readonly critiques: Critique[]
}

/**
 * Walks the recorded Decisions of a batch and leaves a Gradient on every Parameter that decided anything: token
 * advantages on weights, advantages and critiques on text. Decisions without credit (their reward is missing) deposit
 * nothing. A token that several branches share enters one sample only, so that each enters a loss once.
 * @throws InvariantError for a trajectory of a held-out task (invariant 6), and for a sample whose tokens were drawn at
 * different temperatures.
 */
export function backward({ trajectories, credits }: CreditedBatch): readonly Gradient[] {
  const creditOf = new Map(credits.map((credit) => [JSON.stringify([credit.trajectory, credit.decision]), credit]))
  const deposits = new Map<string, Deposit>()

  for (const trajectory of trajectories) {
    if (trajectory.task.split === 'holdout') {
      throw new InvariantError(`the held-out task "${trajectory.task.id}" was about to be learnt from`)
    }
    const decidedBy = new Map<Deposit, CreditedDecision[]>()
    for (const decision of trajectory.decisions) {
      const credit = creditOf.get(JSON.stringify([trajectory.id, decision.id]))
      if (!credit) continue
      const deposit = depositOf(deposits, decision)
      const decided = decidedBy.get(deposit)
      if (decided) decided.push({ decision, credit })
      else decidedBy.set(deposit, [{ decision, credit }])
    }
    for (const [{ owner, samples, critiques }, decided] of decidedBy) {
      if (owner.kind === 'weights') samples.push(...weightsSamples(trajectory, decided))
      else critiques.push(...decided.map(({ credit }) => critiqueOf(credit)))
    }
  }

  return [...deposits.values()].flatMap(({ owner, samples, critiques }): Gradient[] => {
    const { kind, parameter, version } = owner
    switch (kind) {
      case 'weights':
        return [{ kind, parameter, version, samples }]
      case 'text':
        return [{ kind, parameter, version, critiques }]
      case 'skill':
      case 'memory':
      case 'choice':
      case 'program':
        return []
    }
  })
}

function depositOf(deposits: Map<string, Deposit>, { kind, parameter, version }: Decision): Deposit {
  const key = JSON.stringify([kind, parameter, version])
  const known = deposits.get(key)
  if (known) return known
  const deposit: Deposit = { owner: { kind, parameter, version }, samples: [], critiques: [] }
  deposits.set(key, deposit)
  return deposit
}
