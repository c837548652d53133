/** One canary from its start to its end: sessions, looks, labels. What decides is the product's own look. */
import { rng } from '../../dist/core/index.js'
import { canaryGateFrom, canaryLook } from '../../dist/learn/canary-look.js'
import { LearnFromTrafficConfig } from '../../dist/learn/source/traffic/config.js'
import { honest } from './agent.mjs'
import { peopleOf, someone } from './person.mjs'
import { AGENT, APPLICATION, openPlace } from './place.mjs'
import { label } from './reviewers.mjs'
import { hold } from './session.mjs'

/** People who come back from time to time; each has a few sessions. */
const PEOPLE = 250
/** Share of the sessions that are drawn at the share of the ramp at which a label tells most. */
const AUDITED = 0.25

/** The configurations that are compared: the owner promotes by behaviour alone, or truth decides. */
export const DEFENCES = {
  'behaviour-only': ({ sessions }) => ({ canary: { promote: 'behaviour-only', maxSessions: sessions } }),
  audited: ({ labels }) => ({ audit: { share: AUDITED, by: 'person', queue: 1_000, maxLabels: labels } }),
}

function configOf(defence, limits, without) {
  const { canary = {}, ...more } = DEFENCES[defence](limits)
  return LearnFromTrafficConfig.parse({
    ...more,
    // Nobody looks for a week at a time by this clock, and the canary goes on serving.
    watchEvery: '7d',
    reporters: { trusted: [APPLICATION] },
    // Many people are silent, and the ramp would only take longer.
    canary: {
      // So few people come back so often that arms by person would be drawn out.
      assign: 'session',
      shares: [0.5],
      sessionsPerStep: 40,
      lifetime: null,
      missing: 'neutral',
      missingTolerance: 0.1,
      guards: Object.fromEntries(without.map((guard) => [guard, false])),
      ...canary,
    },
  })
}

/**
 * @param candidate `{ right, asks?, turn? }`: by how much its share of right answers differs, whether it asks on ambiguous
 * tasks, and how it changes a turn.
 * @param base share of right answers of what serves.
 * @param limits `{ sessions, labels }`: where it is given up.
 * @param without guards that are off.
 * @param http whether calls go through the gateway's routes.
 * @returns `{ outcome, sessions, candidates, labels, truth, brought, reason }`: `outcome` is `promoted`, `rolled-back` or `ended`
 * (given up); `truth`: share of right tasks of a session by arm, `brought`: share of right tasks of all that people came with.
 */
export async function runCanary({ candidate, crowd, base, defence, seed, limits, without = [], http = false }) {
  const stream = rng('red-team', crowd, String(base), String(seed))
  const random = () => stream.next()
  const place = await openPlace({ http })
  try {
    const { store, clock, registry, router } = place
    const config = configOf(defence, limits, without)
    const look = canaryLook({ store, tenant: 'default', config, clock, onProblem: rethrow }, 'gate')
    const canary = await registry.startCanary({
      agent: AGENT,
      versions: place.candidate,
      admission: null,
      run: null,
      gate: canaryGateFrom(config),
      salt: `red team ${crowd} ${base} ${seed}`,
      at: clock.now(),
    })
    await look(canary.id)
    await router.refresh()
    const agents = agentsOf(candidate, base)
    const people = peopleOf(crowd, PEOPLE, random)
    const truths = new Map()
    const truth = { baseline: [0, 0], candidate: [0, 0] }
    const brought = { baseline: [0, 0], candidate: [0, 0] }
    let [sessions, labels] = [0, 0]
    for (let next = 80; ; next = Math.max(next + 60, Math.ceil(1.15 * next))) {
      for (; sessions < next; sessions++) {
        const person = someone(people, random)
        const session = await hold(place, { person, name: `s-${sessions}`, agents, random })
        truths.set(session.trajectory, session.seen)
        if (session.arm === null) throw new Error('a session is outside the canary')
        truth[session.arm][0] += session.truth
        truth[session.arm][1]++
        brought[session.arm][0] += session.brought.reduce((sum, right) => sum + right, 0)
        brought[session.arm][1] += session.brought.length
        clock.time += 10_000
      }
      clock.time += config.judgeAfter
      labels += await label(place, canary, truths, random)
      const looked = await look(canary.id)
      if (looked.canary.status !== 'running') {
        const mean = ([sum, n]) => (n === 0 ? null : sum / n)
        return {
          outcome: looked.canary.status,
          sessions,
          candidates: truth.candidate[1],
          labels,
          truth: { baseline: mean(truth.baseline), candidate: mean(truth.candidate) },
          brought: { baseline: mean(brought.baseline), candidate: mean(brought.candidate) },
          reason: looked.verdict?.reasons[0] ?? '',
        }
      }
      labels += await label(place, canary, truths, random)
      await router.refresh()
    }
  } finally {
    await place.close()
  }
}

function rethrow(error) {
  throw error
}

function agentsOf({ right = 0, asks = false, turn = null }, base) {
  const share = Math.min(1, Math.max(0, base + right))
  const plain = (context) => honest(context, { right: share, asks })
  return {
    baseline: (context) => honest(context, { right: base }),
    candidate: turn === null ? plain : (context) => turn(context, plain),
  }
}
