import { z } from 'zod'
import { defineAgent, user, weights } from '../../src/agent/index.ts'
import { type CreditEstimator, Json, type Store, type Trajectory } from '../../src/core/index.ts'
import { leaveOneOut } from '../../src/credit/index.ts'
import { pairedGate } from '../../src/gate/index.ts'
import { learn, type RolloutOptions, rollouts } from '../../src/learn/index.ts'
import { policyGradient, sequence } from '../../src/optimize/weights/index.ts'
import { rubric, verifier } from '../../src/reward/index.ts'
import { practisedModel } from './practised-model.ts'
import { readerTasks } from './reader.ts'
import { shown, smallSchedule } from './small-run.ts'
import { answeredRight, wordEnvironment } from './word-environment.ts'

/** A team: one plans in words, the other acts. Each is a Parameter of weights of its own. */
export const team = defineAgent({
  name: 'team',
  parameters: { planner: weights({ base: 'words', rank: 4 }), reader: weights({ base: 'words', rank: 4 }) },
  async run(task, { planner, reader }, episode) {
    const plan = await planner.complete([user(`Plan: ${task.instruction}`)])
    return reader.act([user(task.instruction)], episode, { from: [plan] })
  },
})

/** What both models answer and learn with; equal in every process. */
export const teamModels = () => ({
  planner: practisedModel({ practice: () => 3 }),
  reader: practisedModel({ practice: () => 5 }),
})

/** One run in which both learn. */
export function runTeam(store: Store, changes: Partial<RolloutOptions> = {}, models = teamModels()) {
  const { planner, reader } = models
  return learn(team, {
    models: { planner: planner.service, reader: reader.service },
    store,
    source: rollouts(wordEnvironment, readerTasks),
    prime: { demonstrations: [{ messages: shown }], parameter: 'reader' },
    reward: rubric({ solved: verifier((final) => answeredRight(final)) }),
    credit: leaveOneOut(),
    optimize: { planner: sequence(policyGradient()), reader: policyGradient() },
    gate: pairedGate({ margin: 0, alpha: 0.25, lifetime: { alpha: 0.25 } }),
    schedule: smallSchedule,
    deterministic: true,
    ...changes,
  })
}

/** Credits as another estimator does, but to the decisions of one Parameter alone; to all others as `instead` says. */
export const creditOnly = (
  parameter: string,
  estimator: CreditEstimator,
  instead: number | null = null,
): CreditEstimator => ({
  ...estimator,
  async credit(groups, context) {
    const result = await estimator.credit(groups, context)
    const trajectories = new Map<string, Trajectory>(
      groups.flatMap(({ attempts }) => attempts.map(({ trajectory }) => [trajectory.id, trajectory])),
    )
    const isOf = (trajectory: string, decision: string) =>
      trajectories.get(trajectory)?.decisions.some((made) => made.id === decision && made.parameter === parameter)
    const credits = result.credits.map((credit) =>
      isOf(credit.trajectory, credit.decision) ? credit : { ...credit, advantage: instead },
    )
    return { ...result, credits }
  },
})

/** What a run came to, but for when, and in which process. */
export async function remainsOfTeam(store: Store) {
  const { id, versionsOut, status } = (await store.runs.list({ limit: 1 }))[0]!
  const checkpoint = await store.runs.latestCheckpoint(id)
  const { weights: learned } = z.object({ weights: Json }).parse(checkpoint?.state)
  const [release] = await store.releases.list({ limit: 1 })
  return { status, versionsOut, learned, blobs: checkpoint?.blobs, released: release?.versions }
}
