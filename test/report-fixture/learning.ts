import type { Rng } from '../../src/core/index.ts'
import type { Arm, LearnEvent } from '../../src/learn/index.ts'
import { rate, tierName, tiers, UPDATES } from './shape.ts'
import { COLLAPSED, collapse, families, PASSES } from './steering.ts'

/** Updates that rise and flatten, with a look at validation every five, and one collapse that is not learned from. */
export function learning(random: Rng, hostile: string | undefined): LearnEvent[] {
  const events: LearnEvent[] = []
  const level = (update: number, top: number, pace: number) => 0.2 + (top - 0.2) * (1 - Math.exp(-update / pace))
  const look = (update: number) => {
    for (const tier of tiers) {
      const n = tier === 'composed' ? 150 : 200
      const successes = Math.round(n * (tier === 'composed' ? level(update, 0.36, 14) - 0.12 : level(update, 0.95, 7)))
      const arm: Arm = update === 0 ? 'primed' : 'learned'
      events.push({
        type: 'evaluated',
        arm,
        split: 'validation',
        tier: tierName(tier, hostile),
        update,
        rate: rate(successes, n),
      })
    }
  }
  look(0)
  for (let update = 1; update <= UPDATES; update++) {
    const p = Math.min(0.97, level(update, 0.93, 7) + 0.08 * (random.next() - 0.5))
    const metrics = {
      loss: 0.02 * (random.next() - 0.5),
      gradNorm: 0.3 + 0.5 * random.next() * Math.exp(-update / 12),
      steps: 2,
      samples: 118,
      tokens: 7600,
      computed: 4900,
      missing: update === 11 ? 2 : 0,
      uniformGroups: Math.round(3 + 9 * (update / UPDATES) * random.next()),
      singletonGroups: 0,
      vetoed: Math.round(31 * Math.exp(-update / 5)),
      brokenCalls: Math.round(24 * Math.exp(-update / 4)),
      informativeGroups: Math.round(20 * (1 - update / UPDATES) + 4 * Math.sin(update)) + 5,
      rounds: update % 7 === 0 ? 2 : 1,
      overall: p,
      deadFamilies: update > 1 ? 2 : 0,
      kl: 0.002 * (1 + Math.sin(1.7 * update) / 2),
      rate: 4e-4 * (1 - update / (UPDATES + 1)) * (update > COLLAPSED ? 0.5 : 1),
      imitated: 96,
      explored: update > 1 ? 64 : 0,
      forced: update > 1 ? 96 : 0,
      forcedWon: update > 1 ? 7 : 0,
    }
    if (update === COLLAPSED) {
      events.push(collapse)
      continue
    }
    const seconds = 2.1 * PASSES + 8.4 * update
    events.push({
      type: 'updated',
      update,
      updates: UPDATES,
      rollouts: rate(Math.round(128 * p), 128),
      reward: p,
      metrics,
      tokensSampled: 7800 + Math.round(900 * random.next()),
      tokensPerSecond: 1800 + 200 * random.next(),
      seconds,
      etaSeconds: 8.4 * (UPDATES - update),
    })
    events.push(...families(update, hostile))
    if (update % 5 === 0) look(update)
  }
  return events
}

const steers = new Set<LearnEvent['type']>(['found', 'looked', 'recovered', 'families', 'stopped', 'enough'])
const watched = [
  'informativeGroups',
  'rounds',
  'overall',
  'deadFamilies',
  'kl',
  'rate',
  'imitated',
  'explored',
] as const

/** An event as a run told it before runs steered themselves. */
export function unsteered(event: LearnEvent): readonly { readonly type: LearnEvent['type'] }[] {
  if (steers.has(event.type)) return []
  if (event.type === 'started') {
    const { chosen: _, ...earlier } = event
    return [earlier]
  }
  if (event.type !== 'updated') return [event]
  const metrics = Object.fromEntries(Object.entries(event.metrics).filter(([name]) => !watched.some((w) => w === name)))
  const earlier = { ...event, metrics }
  return [earlier]
}
