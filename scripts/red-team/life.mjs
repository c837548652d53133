/**
 * One agent's life among tricks: cycles of sessions, a run that learns from them, and the canary of what it learned. What
 * learns, looks and decides is the product's own learner.
 */
import { rng } from '../../dist/core/index.js'
import { LearnFromTrafficConfig } from '../../dist/learn/source/traffic/config.js'
import { trafficLearner } from '../../dist/learn/traffic-learner.js'
import { reinforce } from '../../dist/optimize/choice/index.js'
import { Registry } from '../../dist/release/index.js'
import { AGENT, mannersOf, openDesk, RUBRIC } from './desk.mjs'
import { peopleOf, someone } from './person.mjs'
import { label } from './reviewers.mjs'

/** So many people that most sessions are of somebody new. */
const PEOPLE = 20_000

/** How the agent learns, by the arm of the comparison. */
export const ARMS = {
  'no learning': () => null,
  'without audit': () => ({ canary: { promote: 'behaviour-only' } }),
  /** Labels decide what is promoted, and teach nothing. */
  'audit decides': (limits) => ({ audit: auditOf(limits), calibrate: false }),
  'audit decides and teaches': (limits) => ({ audit: auditOf(limits) }),
}
const auditOf = ({ labels }) => ({ share: 0.5, by: 'person', queue: 1_000, maxLabels: labels })

const configOf = ({ canary = {}, ...more }, limits, without) =>
  LearnFromTrafficConfig.parse({
    ...more,
    mode: 'automatic',
    watchEvery: '7d',
    window: '90d',
    rubric: RUBRIC,
    reporters: { trusted: ['open'] },
    canary: {
      shares: [0.5],
      sessionsPerStep: 40,
      maxSessions: limits.candidates,
      missing: 'neutral',
      missingTolerance: 0.1,
      guards: Object.fromEntries(without.map((guard) => [guard, false])),
      ...canary,
    },
  })

/**
 * @param trick a class of tricks.
 * @param limits `{ batch, candidates, measured }`: sessions before each run, judged candidate sessions of a canary at most,
 * and sessions after the last cycle in which the truth is measured.
 * @returns `{ after, during, trick, cycles }`: share of right tasks after the last cycle and over all sessions before, share
 * of sessions after it that met the trick, and what became of each cycle.
 */
export async function live({ arm, trick, crowd, base, seed, cycles, limits, without = [] }) {
  const desk = await openDesk(mannersOf(trick, base))
  try {
    const { store, clock, agent } = desk
    const randomOf = (part) => {
      const stream = rng('tricks in traffic', part, crowd, String(base), String(seed))
      return () => stream.next()
    }
    const random = randomOf('life')
    const people = peopleOf(crowd, PEOPLE, random)
    const truths = new Map()
    const hold = async (count, draw = random) => {
      const held = []
      for (let i = 0; i < count; i++) {
        const session = await desk.hold(someone(people, draw), draw)
        truths.set(session.trajectory, session.truth)
        held.push(session)
        clock.time += 10_000
      }
      return held
    }
    await desk.refresh()
    const rules = ARMS[arm](limits)
    const config = rules && configOf(rules, limits, without)
    const learner =
      config &&
      trafficLearner({
        agent,
        tenant: 'default',
        config,
        store,
        openModel: () => Promise.reject(new Error('nothing here has weights')),
        optimize: { manner: reinforce({ learningRate: 8, epochs: 30 }) },
        onProblem: rethrow,
        onEvent: (event) => {
          if (event.type === 'problem') throw new Error(event.message)
        },
        clock,
      })
    const during = []
    const told = []
    for (let cycle = 1; cycle <= cycles; cycle++) {
      during.push(...(await hold(limits.batch)))
      if (learner) told.push(await learnOnce({ desk, learner, config, hold, during, truths, random, limits }))
    }
    const after = await hold(limits.measured, randomOf('after'))
    return {
      after: mean(after.map(({ truth }) => truth)),
      during: mean(during.map(({ truth }) => truth)),
      trick: mean(after.map(({ manner }) => Number(manner === 'trick'))),
      best: mean(after.map(({ manner }) => Number(manner === 'careful'))),
      sessions: during.length,
      cycles: told,
    }
  } finally {
    await desk.close()
  }
}

async function learnOnce({ desk, learner, config, hold, during, truths, random, limits }) {
  const { store, clock } = desk
  clock.time += config.settle + config.judgeAfter
  const signal = new AbortController().signal
  const { outcome, learned } = await learner.learn({ resume: null, signal, mayWrite: async () => {}, onStarted() {} })
  const registry = new Registry(store)
  const canary = await registry.runningCanary(AGENT)
  const { factors = {} } = learned ?? {}
  if (!canary) return { outcome, factors }
  let labels = 0
  await learner.watch()
  await desk.refresh()
  for (let [held, next] = [0, 80]; ; next = Math.max(next + 60, Math.ceil(1.15 * next))) {
    during.push(...(await hold(next - held)))
    held = next
    clock.time += config.judgeAfter
    // It draws what it judges, and decides by what was labelled before.
    for (let looks = 0; looks < 2; looks++) {
      await learner.watch()
      labels += await label(desk, canary, truths, random)
    }
    const { status, reason } = (await store.canaries.get(canary.id)) ?? {}
    if (status !== 'running') {
      await desk.refresh()
      return { outcome: status, reason, sessions: held, labels, factors }
    }
    if (held > 4 * limits.candidates + 4_000) throw new Error(`a canary came to no end: ${reason}`)
  }
}

function rethrow(error) {
  throw error
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
