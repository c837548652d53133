import { defineAgent, parameter, user, weights } from '../../src/agent/index.ts'
import type { Json, Optimizer, Store } from '../../src/core/index.ts'
import { leaveOneOut } from '../../src/credit/index.ts'
import { pairedGate } from '../../src/gate/index.ts'
import { learn, type RolloutOptions, rollouts } from '../../src/learn/index.ts'
import { policyGradient } from '../../src/optimize/weights/index.ts'
import { rubric, verifier } from '../../src/reward/index.ts'
import { choice, even } from './choice-kind.ts'
import { practisedModel } from './practised-model.ts'
import { readerTasks } from './reader.ts'
import { shown, smallSchedule } from './small-run.ts'
import { answeredRight, wordEnvironment } from './word-environment.ts'

/** An agent with weights and a choice: both learn in one run. */
const both = defineAgent({
  name: 'reader',
  parameters: { model: weights({ base: 'words', rank: 4 }), route: parameter(choice, even) },
  run(task, { model, route }, episode) {
    route.choose()
    return model.act([user(task.instruction)], episode)
  },
})
/** Prefers the first option more with every decision that it hears of, whatever it earned. */
const counting: Optimizer<typeof choice> = {
  name: 'counting',
  kind: 'choice',
  async open({ value }, saved) {
    let heard = saved ? Number(saved.state) : 0
    const now = async () => ({ ...value, preferences: [heard / 64, 0] })
    return {
      bound: now,
      propose: now,
      save: async () => ({ state: heard }),
      async step(deposits) {
        heard += 1 + deposits.length
        return { heard }
      },
    }
  },
}
const optimize: RolloutOptions['optimize'] & {} = { model: policyGradient(), route: counting }
/** One run of both. */
export const runTwoLearners = (at: Store, changes: Partial<RolloutOptions> = {}) =>
  learn(both, {
    model: practisedModel({ practice: () => 5 }).service,
    store: at,
    source: rollouts(wordEnvironment, readerTasks),
    prime: { demonstrations: [{ messages: shown }] },
    reward: rubric({ solved: verifier((final) => answeredRight(final)) }),
    credit: leaveOneOut(),
    optimize,
    gate: pairedGate({ margin: 0, alpha: 0.25, lifetime: { alpha: 0.25 } }),
    schedule: smallSchedule,
    deterministic: true,
    ...changes,
  })

/** What a run came to, but for when, and in which process. */
export async function remainsOf(at: Store) {
  const { id, versionsOut, status } = (await at.runs.list({ limit: 1 }))[0]!
  const state = (await at.runs.latestCheckpoint(id))?.state as Record<string, Json>
  const blobs = Object.keys((await at.runs.latestCheckpoint(id))?.blobs ?? {})
  return { status, versionsOut, proposed: state['proposed'], learners: state['learners'], blobs }
}
