import { beforeAll, describe, expect, it } from 'vitest'
import { fixtureRun, recordRun } from '../../test/report-fixture/index.ts'
import { ReleaseId, type Store } from '../core/index.ts'
import { present } from '../errors/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { type RunReport, reportOf } from './index.ts'
import { reproduce } from '../cli/reproduce.ts'

async function reported(
  options: Parameters<typeof recordRun>[1],
  after?: (store: Store) => Promise<void>,
): Promise<RunReport> {
  const store = await openMemoryStore()
  await recordRun(store, { tasks: 120, ...options })
  await after?.(store)
  return reportOf(store, fixtureRun, { reproduce })
}

describe('a promoted run', () => {
  let report: RunReport
  beforeAll(async () => {
    report = await reported({})
  })

  it('has every arm and baseline of each tier, the judged tier first', () => {
    expect(report.tiers.map(({ tier, judged }) => ({ tier, judged }))).toEqual([
      { tier: 'single-hop', judged: true },
      { tier: 'composed', judged: false },
    ])
    expect(report.tiers[0]?.arms.map(({ arm }) => arm)).toEqual(['base', 'primed', 'control', 'learned'])
    expect(report.tiers[0]?.baselines).toHaveLength(4)
    expect(report.rates?.learned).toEqual(report.tiers[0]?.arms.at(-1)?.rate)
  })

  it('has its curve, with the weights that were kept', () => {
    const all = Array.from({ length: 30 }, (_, i) => i + 1)
    expect(report.updates.map(({ update }) => update)).toEqual(all.filter((update) => update !== 14))
    expect(report.validation.map(({ tier, points }) => [tier, points.map(({ update }) => update)])).toEqual([
      ['single-hop', [0, 5, 10, 15, 20, 25, 30]],
      ['composed', [0, 5, 10, 15, 20, 25, 30]],
    ])
    expect(report.unreadEvents).toBe(0)
    expect(report.progress).toMatchObject({ phase: 'done', update: 30, planned: 30, best: { update: 25 } })
  })

  it('has what it decided by itself', () => {
    const steering = present(report.steering, 'what it decided')
    expect(steering).toMatchObject({
      chosen: { families: 26, demonstrations: 16 },
      findings: [{ code: 'learn/unusual-end', stops: false }],
      looks: [{ pass: 4 }, { pass: 8 }],
      primeTarget: { success: 0.75, informative: 1, passes: 48 },
      returns: [{ update: 14, to: 12, scale: 0.25 }],
      sampledOn: { updates: 3, of: 29 },
      stopped: null,
      enough: { update: 30, message: 'All 30 updates are done.' },
    })
  })

  it('has its families, the dead ones first, then by their last rate', () => {
    const families = report.steering?.families ?? []
    expect(families.map(({ dead }) => dead)).toEqual([true, true, ...Array.from({ length: 24 }, () => false)])
    const last = families.slice(2).map(({ rates }) => rates.at(-1)?.rate ?? Number.NaN)
    expect(last).toEqual(last.toSorted((a, b) => a - b))
    const late = families.find(({ rates }) => rates[0]?.rate === null)
    expect(late?.rates.map(({ update, rate }) => [update, rate !== null])).toEqual([
      [1, false],
      [8, true],
      [16, true],
      [24, true],
    ])
  })

  it('counts the gate’s outcomes as the gate does', () => {
    const gate = present(report.gate, 'the gate')
    const evidence = gate.evidence as { means: { baseline: number; candidate: number }; difference: number }
    expect(gate).toMatchObject({ decision: 'promote', tasks: 120, margin: 0.02, use: { number: 1, total: 0.05 } })
    expect(gate.means?.baseline).toBeCloseTo(evidence.means.baseline, 8)
    expect(gate.means?.candidate).toBeCloseTo(evidence.means.candidate, 8)
    expect((gate.better - gate.worse) / gate.scored).toBeCloseTo(evidence.difference, 8)
    expect(gate.interval).toEqual(gate.evidence.interval)
  })

  it('has the rivals of the receipt, the strongest first, with their means on the same tasks', () => {
    const { rivals = [], evidence } = report.gate ?? {}
    expect(rivals.map(({ name, beaten }) => [name, beaten])).toEqual([
      ['constant answer', true],
      ['primed', true],
    ])
    const stated = evidence?.['rivals'] as Record<string, { difference: number; interval: readonly number[] }>
    for (const { name, means, interval } of rivals) {
      expect((means?.candidate ?? 0) - (means?.rival ?? 0)).toBeCloseTo(stated[name]?.difference ?? Number.NaN, 8)
      expect(interval).toEqual(stated[name]?.interval)
    }
  })

  it('tells three tasks that were gained and one that was not, with their transcripts', () => {
    expect(report.stories.map(({ outcome }) => outcome).slice(0, 3)).toEqual(['gained', 'gained', 'gained'])
    expect(['lost', 'unsolved']).toContain(report.stories[3]?.outcome)
    for (const { outcome, attempts } of report.stories) {
      expect(attempts.map(({ arm }) => arm)).toEqual(['base', 'primed', 'learned'])
      const gained = outcome === 'gained'
      expect(attempts.map(({ solved }) => solved)).toEqual(
        gained ? [false, false, true] : [expect.anything(), expect.anything(), false],
      )
      expect(attempts.every(({ messages }) => messages[0]?.role === 'user')).toBe(true)
    }
  })

  it('says how to repeat it, with the configuration that is not the default', () => {
    const file = `${fixtureRun}.json`
    expect(report.reproduce?.arguments).toBe(`learn --seed 7 --config ${file} --control`)
    expect(report.reproduce?.config).toMatchObject({ file, content: { schedule: { updates: 30 } } })
    expect(report.release).toMatchObject({ servesNow: true })
  })
})

it('prefers a failure where the earlier agent had succeeded', async () => {
  const { stories, gate } = await reported({ skill: { base: 0.4, learned: 0.2 } })
  expect(gate?.decision).toBe('reject')
  expect(stories.at(-1)).toMatchObject({ outcome: 'lost' })
  expect(stories.at(-1)?.attempts.map(({ solved }) => solved)).toEqual([true, expect.anything(), false])
})

it('knows when a release no longer serves', async () => {
  const report = await reported({}, async (store) => {
    const [release] = await store.releases.list({ limit: 1 })
    const earlier = { ...present(release, 'the release'), id: ReleaseId.parse('release-1') }
    await store.releases.put(earlier)
    await store.releases.activate({ agent: 'librarian', release: earlier.id, reason: 'rollback', generation: 2, at: 0 })
  })
  expect(report.release?.servesNow).toBe(false)
})

describe('a run that ended early', () => {
  it('while priming has its passes and nothing else', async () => {
    const report = await reported({ status: 'failed', until: 'primed' })
    expect(report.priming).toHaveLength(8)
    expect(report).toMatchObject({ updates: [], validation: [], gate: null, rates: null, stories: [], release: null })
    expect(report.progress.phase).toBe('prime')
  })

  it('before the gate does not know which tier is judged', async () => {
    const report = await reported({ status: 'interrupted', until: 'measured' })
    expect(report.tiers.map(({ judged }) => judged)).toEqual([null, null])
  })
})

it('says nothing of steering where a run of an earlier version told nothing of it', async () => {
  const report = await reported({ steered: false })
  expect(report).toMatchObject({ steering: null, unreadEvents: 0 })
  expect(report.updates).toHaveLength(29)
})

it('knows no target of imitation where the run keeps a configuration of its own', async () => {
  const report = await reported({}, async (store) => {
    const run = present(await store.runs.get(fixtureRun), 'the run')
    store.runs.get = () => Promise.resolve({ ...run, config: { mine: true } })
  })
  expect(report.steering?.primeTarget).toBeNull()
})

it('tells once what the check found twice, before and after a kill', async () => {
  const report = await reported({ until: 'started', status: 'running' }, async (store) => {
    const events = await store.runs.events(fixtureRun)
    await store.runs.appendEvents(events.map((event) => ({ ...event, sequence: events.length + event.sequence })))
  })
  expect(report.steering?.findings).toHaveLength(1)
})

it('takes what a resumed run told twice once, and tells of what it cannot read', async () => {
  const report = await reported({ status: 'running', until: 'updated' }, async (store) => {
    const events = await store.runs.events(fixtureRun)
    const again = events.find(({ type, data }) => type === 'updated' && data.update === 3)!
    const sequence = events.length
    await store.runs.appendEvents([
      { ...again, sequence, data: { ...again.data, reward: 0.123 } },
      { ...again, sequence: sequence + 1, type: 'primed', data: { pass: 'one' } },
      { ...again, sequence: sequence + 2, type: 'of-a-later-version', data: {} },
      { ...again, sequence: sequence + 3, type: 'started', data: { resumedAt: 3 } },
    ])
  })
  expect(report.updates.filter(({ update }) => update === 3).map(({ reward }) => reward)).toEqual([0.123])
  expect(report.unreadEvents).toBe(2)
  expect(report.progress.resumed).toBe(1)
})

it('refuses a run that is not there', async () => {
  const store = await openMemoryStore()
  await expect(reportOf(store, 'run-none')).rejects.toMatchObject({ code: 'cli/unknown-run' })
  await expect(reportOf(store, '')).rejects.toMatchObject({ code: 'cli/unknown-run' })
})
