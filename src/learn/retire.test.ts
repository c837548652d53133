import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { desks, deskTasks } from '../../test/support/choice-kind.ts'
import { item } from '../../test/support/memory-items.ts'
import { learnedSkill } from '../../test/support/skills.ts'
import { choice, defineAgent, memory, skills, text, weights } from '../agent/index.ts'
import { isPaired, type Json, type Optimizer, type Store } from '../core/index.ts'
import { pairedGate, replay } from '../gate/index.ts'
import { Registry } from '../release/index.ts'
import { progress, renderReport, reportOf } from '../report/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { learn } from './learn.ts'
import type { RolloutOptions } from './options.ts'
import { canary, direct, shadow } from './release-plan.ts'
import { retire } from './retirement.ts'
import { whatLearns } from './run/parameter.ts'
import { rollouts, traffic } from './source.ts'
import { LearnFromTrafficConfig } from './source/traffic/config.ts'
import { trafficLearner } from './traffic-learner.ts'

let store: Store
/** Whether the rest of the agent knows by itself what its cases tell it: as weights do that have learned from them. */
let absorbed = false
beforeEach(async () => {
  absorbed = false
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** Asks the desk that it remembers, else sales. Everything else that it has decides nothing that is paid for. */
const office = defineAgent({
  name: 'office',
  parameters: {
    cases: memory({ explore: 0 }),
    notes: memory({ explore: 0 }),
    greeting: text('Good day.'),
    tools: skills({ explore: 0 }),
    tone: choice({ options: ['curt', 'polite'], start: 'curt', explore: 0 }),
  },
  async run({ instruction }, { cases, notes, greeting, tone }, episode) {
    const [known] = await cases.find(instruction)
    await notes.find(instruction)
    await episode.step({
      kind: 'message',
      content: [known?.text ?? (absorbed ? 'refunds' : 'sales'), greeting.value, await tone.choose()].join(' '),
    })
    return { stopReason: 'done', message: null }
  },
})

const cue = 'I want my money back for an order.'
/** A value with changes to the one that is declared. */
const declared = (name: keyof (typeof office)['parameters'], changes: object): object => ({
  ...(office.parameters[name].initial(() => '') as object),
  ...changes,
})
const learnedValues = {
  cases: declared('cases', { items: [item(cue, { text: 'refunds' })] }),
  notes: declared('notes', { items: [item(cue, { text: 'People like tea.' })] }),
  greeting: declared('greeting', { text: 'Good morning!' }),
  tools: declared('tools', { skills: [learnedSkill()] }),
  tone: declared('tone', { policy: { by: 'fixed', option: 'polite' } }),
}
type Name = keyof typeof learnedValues

/** Proposes a value, whatever was seen. */
const proposing = (kind: string, proposed: unknown): Optimizer => ({
  name: 'proposing',
  kind,
  open: async ({ value }) => ({
    bound: async () => value,
    propose: async () => proposed,
    save: async () => ({ state: null }),
    step: async () => ({}),
  }),
})

const askedRight = ({ state }: { readonly state: Json }) => Number(JSON.stringify(state).includes('refunds'))
const solved = rubric({ solved: verifier((final) => askedRight(final)) })
const gate = pairedGate({ margin: 0.02, alpha: 0.05 })
const manyTasks = deskTasks.flatMap((task) =>
  Array.from({ length: task.split === 'holdout' ? 5 : 1 }, (_, i) => ({
    ...task,
    id: `${task.id}-${i}` as typeof task.id,
  })),
)
const source = rollouts(desks, manyTasks)

const run = (optimize: RolloutOptions['optimize'] & {}, more: Partial<RolloutOptions> = {}) =>
  learn(office, {
    store,
    source,
    reward: solved,
    optimize,
    gate,
    schedule: { updates: 1, tasks: 2, validateEvery: 1, patience: null, target: null },
    deterministic: true,
    ...more,
  })

/** These learn something beside the cases, and all are released together. */
const learned = (...others: readonly Name[]) =>
  run(
    Object.fromEntries(
      (['cases', ...others] as const).map(
        (name) => [name, proposing(office.parameters[name].kind, learnedValues[name])] as const,
      ),
    ),
  )
const serving = async () => (await new Registry(store).current('office')).release
const declaredVersions = async () => {
  const [first] = await store.releases.activations('office')
  return (first && (await store.releases.get(first.release)))?.versions ?? {}
}

describe('retiring a Parameter', () => {
  it('gives up what a memory brings nothing by, and keeps what helps', async () => {
    const all = await learned('notes', 'greeting', 'tools', 'tone')
    expect(all.decision).toBe('promote')
    expect(all.brought?.map(({ parameter, verdict }) => [parameter, verdict])).toEqual([
      ['cases', 'helps'],
      ['notes', 'no-loss'],
      ['greeting', 'no-loss'],
      ['tools', 'no-loss'],
      ['tone', 'no-loss'],
    ])
    const before = await serving()

    const kept = await run({ cases: retire() })
    expect(kept).toMatchObject({ decision: 'reject', releaseId: null })
    expect((await serving()).id).toBe(before.id)

    const events: LearnEvent[] = []
    const lines: string[] = []
    const tell = progress({ write: (line) => lines.push(line) })
    const gone = await run(
      { notes: retire() },
      {
        onEvent(event) {
          events.push(event)
          tell(event)
        },
      },
    )
    expect(gone.decision).toBe('promote')
    const now = await serving()
    expect(now.versions).toEqual({ ...before.versions, notes: (await declaredVersions())['notes'] })
    // Nothing was learned from, and nothing attempted but held-out tasks.
    expect([
      ...new Set(events.flatMap((event) => (event.type === 'progress' ? [event.phase.split('/')[0]] : []))),
    ]).toEqual(['holdout'])
    expect(gone.tokensTrained).toBe(0)

    const receipt = now.receipt === null ? null : await store.receipts.get(now.receipt)
    if (!receipt || !isPaired(receipt)) throw new Error('no receipt')
    expect(replay(receipt)).toBe('promote')
    expect(receipt.reasons.join('\n')).toMatch(
      /without what "notes" learned less than 0\.05 is lost, so it can be retired\.\nIt gives up what "notes" learned: the value that the agent declares serves in its place, and up to 5 % of the range of rewards may be lost/,
    )
    // The third use of these tasks, which may have told which of five to retire.
    expect(receipt.use.use).toBe(3)
    expect(receipt.evidence['alpha']).toBeCloseTo(receipt.use.alpha / 5, 12)
    expect(lines.join('\n')).toMatch(
      /without what "notes" learned less[\s\S]*"notes" is retired, and serves as it is declared/,
    )
    const page = renderReport(await reportOf(store, gone.runId)).replaceAll(/<[^>]*>/g, '')
    expect(page).toMatch(/Retired[\s\S]*without what “notes” learned, and 100% with it/)
    expect(page).toMatch(/Earlier uses of these tasks may have told which part to retire/)

    const { id } = await new Registry(store).rollback('office')
    expect(id).toBe(before.id)
  })

  it('gives up what others have absorbed since it was learned, down to the agent as it is declared', async () => {
    await learned()
    const before = await serving()
    expect((await run({ cases: retire() })).decision).toBe('reject')
    absorbed = true
    const { decision, releaseId } = await run({ cases: retire() })
    expect(decision).toBe('promote')
    const now = await serving()
    expect(now).toMatchObject({ id: releaseId, versions: await declaredVersions() })
    // To be declared again changes nothing; a step back does.
    await expect(run({ cases: retire() })).rejects.toMatchObject({ code: 'learn/nothing-to-retire' })
    expect((await serving()).id).toBe(now.id)
    expect((await new Registry(store).rollback('office')).id).toBe(before.id)
  })

  it.each(['notes', 'greeting', 'tools', 'tone'] as const)('works for every Kind but weights: %s', async (name) => {
    await learned(name)
    const { decision, releaseId } = await run({ [name]: retire() })
    expect({ decision, released: releaseId !== null }).toEqual({ decision: 'promote', released: true })
    expect((await serving()).versions[name]).toBe((await declaredVersions())[name])
  })

  it('says in the next receipts what earlier ones may have lost, and counts as no promotion', async () => {
    await learned('notes', 'tone')
    expect(await store.levels.countPromoted('office')).toBe(1)
    await run({ notes: retire() })
    const { runId } = await run({ tone: retire({ loss: 0.1 }) })
    const level = await store.levels.get('office', runId)
    expect(level).toMatchObject({ candidate: 3, promotions: 1, promoted: false })
    const kept = await store.runs.get(runId)
    const receipt = kept?.receipt && (await store.receipts.get(kept.receipt))
    expect(receipt && receipt.reasons.join('\n')).toContain(
      "The agent's earlier retirement may have lost up to 5 % more: each is compared with what served then.",
    )
  })

  it('can keep its candidate, so that nobody gets it', async () => {
    await learned('notes')
    const before = await serving()
    const summary = await run({ notes: retire() }, { release: shadow() })
    expect(summary).toMatchObject({ decision: 'promote', outcome: 'shadow', releaseId: null })
    expect((await serving()).id).toBe(before.id)
    expect(renderReport(await reportOf(store, summary.runId))).toContain('Not missed, and not retired')
  })

  it('warns where so few tasks judge that nothing could be shown', async () => {
    await learned('notes')
    const events: LearnEvent[] = []
    const few = rollouts(desks, deskTasks)
    const { decision } = await run({ notes: retire() }, { source: few, onEvent: (event) => events.push(event) })
    expect(decision).toBe('need_more_evidence')
    expect(events).toContainEqual(
      expect.objectContaining({ code: 'learn/few-tasks', message: expect.stringMatching(/^40 held-out tasks judge/) }),
    )
  })

  it('works over traffic, on its held-out tasks', async () => {
    await learned('notes')
    const evaluation = { agent: office, environment: desks, holdout: source.holdout, reward: solved }
    const summary = await learn(office, {
      store,
      source: traffic({ agent: 'office', evaluation }),
      reward: solved,
      optimize: { notes: retire() },
      gate,
      release: direct(),
    })
    expect(summary).toMatchObject({
      outcome: 'released',
      decision: 'promote',
      reason: '"notes" is retired: it serves as it is declared.',
      learned: { sessions: 0 },
    })
    expect((await serving()).versions['notes']).toBe((await declaredVersions())['notes'])
    expect(renderReport(await reportOf(store, summary.runId)).replaceAll(/<[^>]*>/g, '')).toContain(
      'was measured without what “notes” learned, on 200 held-out tasks',
    )
  })
})

describe('is refused', () => {
  const withWeights = defineAgent({
    ...office,
    name: 'reader',
    parameters: { model: weights({ base: 'none' }), notes: memory() },
    run: async () => ({ stopReason: 'done', message: null }),
  })
  const refusal = (message: RegExp) =>
    expect.objectContaining({ code: 'learn/cannot-retire', message: expect.stringMatching(message) })

  it('beside anything else that changes, and of weights', async () => {
    const learning = { cases: proposing('memory', learnedValues.cases) }
    for (const optimize of [
      { notes: retire(), ...learning },
      { ...learning, notes: retire() },
      { notes: retire(), tone: retire() },
    ]) {
      await expect(run(optimize)).rejects.toEqual(refusal(/^"(notes|tone)" is to be retired in a run that changes/))
    }
    expect(() => whatLearns(withWeights, { optimize: { model: retire() } })).toThrow(refusal(/of the kind "weights"/))
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('by a canary, without held-out tasks, and by a learner', async () => {
    await expect(run({ notes: retire() }, { release: canary({ name: 'rules' } as never) })).rejects.toEqual(
      refusal(/by a canary/),
    )
    const unjudged = { store, source: traffic({ agent: 'office' }), reward: solved, optimize: { notes: retire() } }
    await expect(learn(office, unjudged)).rejects.toEqual(refusal(/no held-out tasks/))
    expect(() =>
      trafficLearner({
        agent: office,
        tenant: 'default' as never,
        config: LearnFromTrafficConfig.parse({ trainer: 'none' }),
        store,
        openModel: () => Promise.reject(new Error('none')),
        optimize: { notes: retire() } as never,
      }),
    ).toThrow(refusal(/by a learner/))
  })

  it('where it has learned nothing that serves: no run is begun, and no holdout is used', async () => {
    await expect(run({ notes: retire() })).rejects.toMatchObject({ code: 'learn/nothing-to-retire' })
    await learned('notes')
    await run({ notes: retire() })
    const runs = await store.runs.list({ limit: 10 })
    await expect(run({ notes: retire() })).rejects.toMatchObject({ code: 'learn/nothing-to-retire' })
    expect(await store.runs.list({ limit: 10 })).toHaveLength(runs.length)
  })

  it('with a loss that is none', () => {
    for (const loss of [0, -0.1, 0.6, Number.NaN]) expect(() => retire({ loss })).toThrow(/loss/)
  })
})

describe('a run that is resumed', () => {
  /** Ends in the middle of measuring. */
  async function interrupted(optimize: RolloutOptions['optimize'] & {}) {
    const stop = new AbortController()
    await run(optimize, {
      signal: stop.signal,
      onEvent: (event) => event.type === 'progress' && event.phase.startsWith('holdout/learned') && stop.abort(),
    }).catch(() => null)
    const [first] = await store.runs.list({ limit: 1 })
    if (!first) throw new Error('no run')
    return first.id
  }

  it('goes on as what it began as', async () => {
    await learned('notes')
    const resume = await interrupted({ notes: retire() })
    const { decision, runId } = await run({ notes: retire() }, { resume })
    expect({ decision, runId }).toEqual({ decision: 'promote', runId: resume })
    const uses = await store.ledger.uses(source.holdout.map(({ id }) => id))
    expect(uses.map(({ use }) => use)).toEqual([1, 2])
  })

  it('is not judged by what may be lost where it was to show a gain, nor the other way round', async () => {
    const learning = { tone: proposing('choice', learnedValues.tone) }
    const resume = await interrupted(learning)
    await expect(run({ tone: retire() }, { resume })).rejects.toMatchObject({ code: 'learn/other-retirement' })
    expect((await run(learning, { resume })).decision).not.toBe('promote')

    const other = await openMemoryStore()
    await store.close()
    store = other
    await learned('notes')
    const retiring = await interrupted({ notes: retire() })
    for (const optimize of [{ notes: retire({ loss: 0.2 }) }, { tone: retire() }, learning]) {
      await expect(run(optimize, { resume: retiring })).rejects.toMatchObject({ code: 'learn/other-retirement' })
    }
  })
})
