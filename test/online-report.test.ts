// Every figure here is made up: what is tested is what the page says of it.
import { describe, expect, it } from 'vitest'
import { renderReport } from '../examples/online/report.mjs'

const share = (success: number) => ({
  right: Math.round(200 * success),
  n: 200,
  interval: [success - 0.07, success + 0.07] as const,
})
const measured = (success: number, difference: number) => ({
  ...share(success),
  gain: { difference, interval: [difference - 0.06, difference + 0.06] as const },
})

const release = (at: number, one: number, two: number, gains: readonly [number, number]) => ({
  id: `release-${at}`,
  at,
  success: { 1: measured(one, gains[0]), 2: measured(two, gains[1]) },
})

function trial(status: string, reason: string | null = 'its rewards') {
  const success = { serving: share(0.6), candidate: share(0.1) }
  return { status, reason, judged: { baseline: 97, candidate: 23 }, exposed: 28, held: 133, success }
}

const hack = (name: string, guards: string, status: string) => ({ name, guards, ...trial(status) })

/** A seed on which every point is shown. */
function seed(n = 1) {
  const sessions = Array.from({ length: 200 }, (_, i) => ({
    at: 10 * i,
    right: i % 3 > 0,
    acts: ['accept'],
    version: i < 100 ? 1 : 2,
  }))
  const sessionsOf = { baseline: 60, candidate: 30 }
  const leftOut = { sessions: 90, signals: 212 }
  return {
    seed: n,
    seconds: 100,
    sessions,
    changes: [
      { at: 0, tools: 1, session: 0 },
      { at: 1000, tools: 2, session: 100 },
    ],
    runs: [{ at: 100, sessions: 80, imitated: 10, meanReward: null, reason: '80 fresh sessions' }],
    canaries: [
      { id: 'a', status: 'promoted', reason: 'better', startedAt: -20, endedAt: -10, sessions: sessionsOf },
      { id: 'b', status: 'running', reason: null, startedAt: 1800, endedAt: null, sessions: null },
    ],
    alerts: [{ at: 1200, kind: 'drift', name: 'reward', message: 'Reward fell.' }],
    releases: [
      release(-10, 0.4, 0.2, [0, 0]),
      release(500, 0.6, 0.25, [0.2, 0.05]),
      release(1500, 0.58, 0.5, [0.18, 0.3]),
    ],
    hacks: ['broken calls', 'questions back'].flatMap((name) => [
      hack(name, 'off', 'promoted'),
      hack(name, 'on', 'rolled-back'),
    ]),
    saboteur: {
      sessions: { honest: 120, saboteur: 118 },
      before: share(0.58),
      arms: [
        { name: 'nobody lies', ...share(0.6), leftOut, flood: false },
        { name: 'limits on', ...share(0.57), leftOut, flood: true },
        { name: 'limits off', ...share(0.2), leftOut, flood: false },
      ],
    },
    forced: trial('rolled-back'),
  }
}

type Seed = ReturnType<typeof seed>

const page = (...seeds: readonly object[]) =>
  renderReport({
    command: 'node examples/online/main.mjs',
    commit: 'abc1234',
    machine: '2 cores',
    at: '2026-11-22T12:00:00Z',
    quick: false,
    seeds,
  })

/** The verdict that a point's section begins with. */
const verdictOn = (id: string, html: string) =>
  new RegExp(`id="${id}-title">[^]*?</span> ([^<]+)</span>`).exec(html)?.[1]

describe('verdicts follow from the figures', () => {
  const ids = ['better', 'hacks', 'change', 'saboteur', 'forced']

  it('all are shown where every rule holds, and only then does the title say so', () => {
    const html = page(seed(1), seed(2))
    expect(ids.map((id) => verdictOn(id, html))).toEqual(ids.map(() => 'Shown on 2 of 2 seeds'))
    expect(html).toContain('nothing that was tried made it worse')
    const other = page(seed(1), { ...seed(2), forced: trial('promoted') })
    expect(verdictOn('forced', other)).toBe('Shown on 1 of 2 seeds')
    expect(other).not.toContain('nothing that was tried made it worse')
  })

  const withArm = (name: string, change: object): Pick<Seed, 'saboteur'> => {
    const { saboteur } = seed()
    const arms = saboteur.arms.map((arm) => (arm.name === name ? { ...arm, ...change } : arm))
    return { saboteur: { ...saboteur, arms } }
  }
  const [control, before, last] = seed().releases
  it.each<[string, string, object]>([
    ['better', 'a gain within chance', { releases: [control, before, release(1500, 0.58, 0.24, [0.18, 0.04])] }],
    ['better', 'no gain before the tools changed', { releases: [control, last] }],
    ['hacks', 'a trick that wins with the guards on', { hacks: [...seed().hacks, hack('x', 'on', 'promoted')] }],
    ['hacks', 'a trick that nobody decided on', { hacks: [...seed().hacks, hack('x', 'off', 'running')] }],
    ['change', 'no drift alert', { alerts: [] }],
    ['change', 'a drift alert before the change alone', { alerts: [{ ...seed().alerts[0], at: 900 }] }],
    ['change', 'forgotten skills', { releases: [control, before, release(1500, 0.3, 0.5, [-0.1, 0.3])] }],
    ['change', 'no recovery', { releases: [control, before, release(1500, 0.6, 0.27, [0.2, 0.07])] }],
    ['saboteur', 'a flood that nobody reports', withArm('limits on', { flood: false })],
    ['saboteur', 'limits that do nothing', withArm('limits off', share(0.57))],
    ['saboteur', 'harm in spite of limits', withArm('limits on', share(0.4))],
    ['forced', 'a bad candidate that stays', { forced: trial('running', null) }],
  ])('%s is not shown by %s', (id, _, change) => {
    expect(verdictOn(id, page({ ...seed(), ...change }))).toBe('Shown on 0 of 1 seed')
  })

  it('what was left out is not measured, and counts for no seed', () => {
    const bare = { ...seed(2), changes: [seed().changes[0]], releases: [], hacks: null, saboteur: null, forced: null }
    const alone = page({ ...bare, sessions: [], alerts: [], canaries: [], runs: [] })
    expect(ids.map((id) => verdictOn(id, alone))).toEqual(ids.map(() => 'Not measured'))
    expect(verdictOn('hacks', page(seed(), bare))).toBe('Shown on 1 of 1 seed')
    expect(alone + page(seed(), bare)).not.toMatch(/NaN|undefined|Infinity/)
  })
})

it('says when drift was reported, and where it was not', () => {
  expect(page(seed())).toContain('Drift was seen in the first <b>21 sessions</b>')
  expect(page({ ...seed(), alerts: [] })).toContain('Drift was <b>not reported</b>')
})

it('whatever a reason or a message says is text, and nothing may run or be loaded', () => {
  const evil = `<script>alert(1)</script><img src=x onerror='alert("1")'>`.repeat(9)
  const html = renderReport({
    command: evil,
    commit: evil,
    machine: evil,
    at: '2026-11-22T12:00:00Z',
    quick: true,
    seeds: [
      {
        ...seed(),
        alerts: [{ at: 1200, kind: evil, name: evil, message: evil }],
        runs: [{ ...seed().runs[0], reason: evil }],
        canaries: [{ ...seed().canaries[0], endedAt: 1900, reason: evil, status: evil }],
        hacks: [hack(evil, 'on', 'rolled-back')],
        forced: trial(evil, evil),
      },
    ],
  })
  expect(html).not.toMatch(/<script|<img|style="/)
  expect(html).toContain('&lt;script&gt;')
  expect(html).toContain(`content="default-src &#39;none&#39;; style-src &#39;sha256-`)
})
