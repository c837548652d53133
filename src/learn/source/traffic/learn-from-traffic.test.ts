import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  initialVersion,
  initialWeights,
  likedSessions,
  recordSessions,
  runTraffic,
  sayOf,
  type SessionSketch,
  type TrafficChanges,
} from '../../../../test/support/learner-traffic.ts'
import { practisedModel, type PractisedModelOptions, skillIn } from '../../../../test/support/practised-model.ts'
import { reader, readerTasks } from '../../../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../../../test/support/word-environment.ts'
import { type WeightsLesson, asWeights, isPaired, RunId, savedAt, type Store } from '../../../core/index.ts'
import { pairedGate, replay } from '../../../gate/index.ts'
import { CanaryRunningError, NothingToTryError, Registry, ServingChangedError } from '../../../release/index.ts'
import { imitate, policyGradient, preferences, sequence } from '../../../optimize/weights/index.ts'
import { rubric, verifier } from '../../../reward/index.ts'
import { openMemoryStore, RunningCanaryError } from '../../../store/index.ts'
import { LostLeaseError } from '../../errors.ts'
import { rollouts, traffic } from '../../source.ts'
import type { LearnEvent } from '../../events.ts'
import { direct, shadow } from '../../release-plan.ts'
import { freshEpisodes } from './fresh.ts'

const { renderer } = practisedModel().service
const hour = 3_600_000

let store: Store
let now: number
beforeEach(async () => {
  store = await openMemoryStore()
  now = hour
})
afterEach(() => store.close())

const sessions = (prefix: string, count: number, sketch?: Partial<SessionSketch>) =>
  likedSessions(store, { now, prefix, count, sketch })
const run = (changes?: TrafficChanges) => runTraffic(store, now, changes)

const only = async () => (await store.runs.list({ limit: 10 }))[0]!

describe('a run over traffic', () => {
  it('gathers, practises, and lets a share of the sessions get what came of it', async () => {
    await sessions('s', 8)
    const { summary, events, story, practised } = await run()
    expect(story).toBe('started agreed gathered practised practised tried finished')
    expect(summary).toMatchObject({
      agent: 'reader',
      outcome: 'canary',
      evidence: 'canary-only',
      learned: { seen: 8, sessions: 8, credited: 8, dropped: {} },
      passes: { demonstrations: 0, preferences: 0, epochs: 2 },
      divergence: { ratio: 1, kl: 0 },
      decision: null,
      receipt: null,
    })
    const canary = (await store.canaries.get(summary.canary!))!
    expect(canary).toMatchObject({ status: 'running', run: summary.runId, admission: null, shares: [0.1, 0.5] })
    expect(canary.candidate).toEqual({ model: summary.candidate })
    const version = (await store.versions.get(summary.candidate!))!
    expect(version).toMatchObject({ run: summary.runId, parents: [initialWeights] })
    const adapter = asWeights(version.value)?.adapter ?? null
    expect(skillIn(await savedAt(store.blobs, adapter!))).toBe(4)

    expect(await only()).toMatchObject({ status: 'completed', versionsOut: canary.candidate, release: null })
    const stored = await store.runs.events(summary.runId)
    expect(stored.map(({ type }) => type)).toEqual(events.map(({ type }) => type))
    expect(practised.trainers.size, 'every trainer that was opened is closed').toBe(0)
    const { blobs } = (await store.runs.latestCheckpoint(summary.runId))!
    expect(Object.keys(blobs).toSorted()).toEqual(['batch', 'candidate'])
    expect((await new Registry(store).current('reader')).activation.generation, 'nothing was released').toBe(1)
  })

  it('uses a trajectory once: the next run sees only what came since', async () => {
    await sessions('s', 6)
    await run({ release: shadow() })
    await sessions('t', 4)
    const second = await run({ release: shadow() })
    expect(second.summary.learned).toMatchObject({ seen: 10, sessions: 4, dropped: { used: 6 } })
    expect((await run({ release: shadow() })).summary).toMatchObject({
      outcome: 'nothing-to-learn',
      candidate: null,
      learned: { seen: 10, sessions: 0, dropped: { used: 10 } },
    })
  })

  it('uses a trajectory once, though it goes on after the window of the run that used it', async () => {
    await sessions('s', 4)
    await run({ release: shadow() })
    now += 24 * hour
    await recordSessions(store, renderer, [{ id: 's0', call: 'next-day', at: now - hour }])
    const { summary } = await run({ release: shadow() })
    expect(summary.learned).toMatchObject({ seen: 1, sessions: 0, dropped: { used: 1 } })
    const source = traffic({ agent: 'reader', window: '6h', settle: '10m' })
    await recordSessions(store, renderer, [{ id: 's1', call: 'next-day-too', at: now - 5 * 60_000 }])
    expect(await freshEpisodes(store, source, 'reader', now + 10 * 60_000)).toBe(0)
  })

  it('uses a trajectory once, however many runs there were since', async () => {
    await sessions('s', 4)
    const { summary: used } = await run({ release: shadow() })
    const one = (await store.runs.get(used.runId))!
    for (let i = 0; i < 250; i++) await store.runs.create({ ...one, id: RunId.parse(`run-later-${i}`) })
    expect((await run({ release: shadow() })).summary.learned).toMatchObject({ sessions: 0, dropped: { used: 4 } })
    const source = traffic({ agent: 'reader', window: '6h', settle: '10m' })
    expect(await freshEpisodes(store, source, 'reader', now)).toBe(0)
  })

  it('uses a trajectory once, though the run that used it was interrupted for longer than a window', async () => {
    const stop = new AbortController()
    const onEvent = (event: LearnEvent) => event.type === 'started' && stop.abort(new Error('enough'))
    await expect(run({ release: shadow(), onEvent, signal: stop.signal })).rejects.toThrow('enough')
    now += 24 * hour
    await sessions('s', 4)
    const { summary } = await run({ release: shadow(), resume: (await only()).id })
    expect(summary.learned.sessions).toBe(4)
    expect((await run({ release: shadow() })).summary.learned).toMatchObject({ sessions: 0, dropped: { used: 4 } })
  })

  it('in the shadow keeps the candidate, and nobody gets it', async () => {
    await sessions('s', 4)
    const { summary } = await run({ release: shadow() })
    expect(summary).toMatchObject({ outcome: 'shadow', canary: null })
    expect(await store.versions.get(summary.candidate!)).not.toBeNull()
    expect(await store.canaries.list({ limit: 1 })).toEqual([])
  })

  /** An answer that somebody did not take: they asked again. */
  const twice = [
    { id: 'twice', answer: 'blue' },
    { id: 'twice', answer: 'red', call: 'second', at: 2_000 },
  ]

  it('prefers by what people did only where that is read', async () => {
    await recordSessions(store, renderer, twice)
    await store.signals.append([sayOf('twice', true, { node: 'second-a' as never })])
    const { summary } = await run({ release: shadow(), from: { behaviour: { kinds: [] } } })
    expect(summary.learned).toMatchObject({ seen: 1, sessions: 1, pairs: 0 })
  })

  it('learns what people showed and preferred first', async () => {
    await sessions('s', 2)
    await recordSessions(store, renderer, [{ id: 'edited' }, ...twice])
    const about = (id: string, call: string) => ({ node: `${call}-a` as never, key: `${id}-${call}` })
    await store.signals.append([
      sayOf('edited', { kind: 'edit', text: 'green' }, { name: 'edit', ...about('edited', 'edited-c') }),
      sayOf('twice', true, about('twice', 'second')),
    ])
    const { summary, story } = await run({ release: shadow() })
    expect(story).toBe('started agreed gathered practised practised imitated imitated preferred finished')
    expect(summary).toMatchObject({
      learned: { sessions: 3, demonstrations: 1, pairs: 2, dropped: { 'missing-reward': 1 } },
      passes: { demonstrations: 2, preferences: 1, epochs: 2 },
    })
  })

  describe('a sequence says how the weights learn', () => {
    const shownAndLiked = async () => {
      await sessions('s', 2)
      await recordSessions(store, renderer, [{ id: 'edited' }])
      const about = { node: 'edited-c-a' as never, key: 'edited-edited-c' }
      await store.signals.append([sayOf('edited', { kind: 'edit', text: 'green' }, { name: 'edit', ...about })])
    }
    const taught = (...lessons: readonly WeightsLesson[]) =>
      run({ release: shadow(), optimize: { model: sequence(...lessons) } })

    it('in its turns', async () => {
      await shownAndLiked()
      const { story, summary } = await taught(imitate(), policyGradient({ loss: 'cispo' }))
      expect(story).toBe('started agreed gathered imitated imitated practised practised finished')
      expect(summary).toMatchObject({ outcome: 'shadow', passes: { demonstrations: 2, preferences: 0, epochs: 2 } })
    })

    it('and what it does not learn from stays for a run that does', async () => {
      await shownAndLiked()
      const first = await taught(preferences())
      expect(first.story).toBe('started agreed gathered preferred finished')
      expect(first.summary.learned).toMatchObject({ demonstrations: 0, pairs: 1 })
    })

    it.each([
      ['epochs', policyGradient()],
      ['demonstrationPasses', imitate()],
      ['preferencePasses', preferences()],
    ])('which must be able to move them: not with %s 0', async (times, lesson) => {
      const idle = run({ optimize: { model: sequence(lesson) }, schedule: { [times]: 0 } })
      await expect(idle).rejects.toMatchObject({ code: 'learn/nothing-teaches' })
      expect(await store.runs.list({ limit: 1 })).toEqual([])
    })
  })

  it('stops where the weights have left the bounds of trust', async () => {
    await sessions('s', 4, { logprob: -1 })
    const { summary, events } = await run({ release: shadow() })
    expect(events.find(({ type }) => type === 'out-of-bounds')).toMatchObject({
      epoch: 0,
      divergence: { ratio: Math.E },
    })
    expect(summary).toMatchObject({ outcome: 'nothing-to-learn', passes: { epochs: 0 }, candidate: null })
    // What nothing came of is not lost for ever: but this run's was looked at.
    expect(summary.divergence?.kl).toBeCloseTo(Math.E - 2, 10)
  })

  it('goes back from an epoch that went too far, and takes half the step', async () => {
    await sessions('s', 4)
    const { summary, events, practised } = await run({
      release: shadow(),
      optimize: { model: policyGradient({ learningRate: 1 }) },
      model: { practice: (_step, learningRate) => 2 * learningRate, logprob: (skill) => 0.14 * skill },
    })
    // Skill 2 is too far: 1, and from there 2 again, so 1.5.
    expect(events.filter(({ type }) => type === 'out-of-bounds')).toMatchObject([
      { epoch: 1, goesOn: true, divergence: { ratio: Math.exp(0.28) } },
      { epoch: 2, goesOn: true, divergence: { ratio: Math.exp(0.28) } },
    ])
    expect(summary.passes.epochs).toBe(2)
    expect(summary.divergence?.ratio).toBeCloseTo(Math.exp(0.21), 10)
    expect(practised.trainers.size).toBe(0)
    const [alert] = await store.alerts.list({ kind: 'learning', limit: 9 })
    expect(alert).toMatchObject({ name: 'out-of-bounds', run: summary.runId, evidence: { returns: 2, epochs: 2 } })
    expect(alert?.message).toContain('went back 2 times')
  })

  it('ends practice after so many returns, with the weights of before', async () => {
    await sessions('s', 4)
    const { summary, events } = await run({
      release: shadow(),
      schedule: { recoveries: 1 },
      model: { logprob: (skill) => skill },
    })
    expect(events.filter(({ type }) => type === 'out-of-bounds')).toMatchObject([{ goesOn: true }, { goesOn: false }])
    expect(summary).toMatchObject({ outcome: 'nothing-to-learn', passes: { epochs: 0 }, divergence: { ratio: 1 } })
  })

  it('says when everybody earned the same', async () => {
    for (const id of ['a', 'b']) {
      await recordSessions(store, renderer, [{ id, at: now - hour / 2 - 10 }])
      await store.signals.append([sayOf(id, true, { at: now - hour / 2 })])
    }
    const { summary } = await run()
    expect(summary.outcome).toBe('nothing-to-learn')
    expect(summary.reason).toContain('earned the same')
  })

  it('imitates and prefers of one session no more than its person’s share', async () => {
    for (let i = 0; i < 21; i++) {
      const [id, subject] = [`s${i}`, i === 0 ? 'loud' : `person-${i}`]
      for (let answer = 0; answer < (i === 0 ? 8 : 1); answer++) {
        const [call, at] = [`${id}-${answer}`, now - hour / 2 - 100 + answer]
        await recordSessions(store, renderer, [{ id, subject, call, at, answer: `red ${answer}` }])
        const said = { name: 'edit', node: `${call}-a` as never, reporter: `k:${subject}`, key: call, at: at + 2 }
        await store.signals.append([sayOf(id, { kind: 'edit', text: 'green' }, said)])
      }
    }
    const { summary, events } = await run({ release: shadow(), from: { reporters: {} } })
    expect(summary.learned).toMatchObject({ demonstrations: 22, pairs: 22 })
    expect(events.find(({ type }) => type === 'imitated')).toMatchObject({ metrics: { tokens: 22 * 15 } })
    expect(events.find(({ type }) => type === 'preferred')).toMatchObject({ metrics: { pairs: 22 } })
    const alerts = await store.alerts.list({ kind: 'flood', limit: 9 })
    expect(alerts.map(({ name, message }) => [name, message])).toEqual([
      ['k:loud', 'One reporter decided 8 answers that were shown or taken: 2 count; and 8 preferences: 2 count.'],
    ])
    expect(alerts[0]?.evidence).toEqual({ demonstrations: { before: 8, after: 2 }, pairs: { before: 8, after: 2 } })
  })

  it('learns of a session that was erased meanwhile no more', async () => {
    await sessions('s', 4)
    const stop = new AbortController()
    const onEvent = (event: LearnEvent) => event.type === 'gathered' && stop.abort(new Error('enough'))
    await expect(run({ release: shadow(), onEvent, signal: stop.signal })).rejects.toThrow('enough')
    await store.trajectories.remove({ session: 's0' }, { dryRun: false })
    const { events } = await run({ release: shadow(), resume: (await only()).id })
    expect(events.find(({ type }) => type === 'practised')).toMatchObject({ metrics: { samples: 3 } })
  })

  /** A run that fails at the first write after an event. */
  const failing = (when: LearnEvent['type']) => {
    let fails = false
    return run({
      onEvent: ({ type }) => {
        fails ||= type === when
      },
      mayWrite: async () => {
        if (!fails) return
        fails = false
        throw new Error('the disk is full')
      },
    })
  }

  it('that failed has used its evidence only where it began a canary first', async () => {
    await sessions('s', 4)
    await expect(failing('practised')).rejects.toThrow('the disk is full')
    expect(await store.canaries.list({ limit: 9 })).toEqual([])
    await expect(failing('tried')).rejects.toThrow('the disk is full')
    const [canary] = await store.canaries.list({ limit: 9 })
    expect(await only()).toMatchObject({ id: canary?.run, status: 'failed' })
    const { summary } = await run()
    expect(summary.learned).toMatchObject({ sessions: 0, dropped: { used: 4 } })
  })

  it('whose canary ended before it is gone on with tells how', async () => {
    await sessions('s', 4)
    await expect(failing('tried')).rejects.toThrow('the disk is full')
    const [canary] = await store.canaries.list({ limit: 9 })
    await new Registry(store).rollBackCanary(canary!.id, { reasons: ['by hand'] })
    const { summary } = await run({ resume: (await only()).id })
    expect(summary).toMatchObject({ outcome: 'canary', canary: canary!.id })
    expect(summary.reason).toContain('by hand')
  })

  it.each([
    [new CanaryRunningError('reader', 'c', ['model']), 'superseded'],
    [new RunningCanaryError('reader', 'c'), 'superseded'],
    [new ServingChangedError('reader'), 'superseded'],
    [new NothingToTryError('reader', 'r'), 'nothing-to-learn'],
  ])('ends where nothing can be tried: %s', async (error, outcome) => {
    await sessions('s', 4)
    let refuses = false
    const refusing: Store = {
      ...store,
      canaries: {
        ...store.canaries,
        list: (asked) => {
          refuses = true
          return store.canaries.list(asked)
        },
      },
      // What reads how long ago weights served looks through canaries, too, and writes nothing after it.
      releases: {
        ...store.releases,
        recent: (...asked) => {
          refuses = false
          return store.releases.recent(...asked)
        },
      },
      transaction: (work) => {
        if (!refuses) return store.transaction(work)
        refuses = false
        return Promise.reject(error)
      },
    }
    const { summary } = await runTraffic(refusing, now)
    expect(summary).toMatchObject({ outcome, reason: error.message, canary: null })
    expect(await only()).toMatchObject({ status: 'completed' })
  })

  it('tells that something else serves by now, or is pinned', async () => {
    await sessions('s', 4)
    const release = await new Registry(store).initial('reader', [initialVersion])
    await store.releases.pin('reader', { agent: 'reader', release: release.id, reason: 'audit', at: now })
    const { summary } = await run()
    expect(summary).toMatchObject({ outcome: 'superseded', canary: null })
    expect(summary.reason).toContain('audit')
  })
})

describe('with held-out tasks', () => {
  const { environment, holdout } = rollouts(wordEnvironment, readerTasks)
  const reward = rubric({ solved: verifier((final) => answeredRight(final)) })
  const suite = { environment, holdout, agent: reader, reward }
  const gate = pairedGate({ margin: 0.02, alpha: 0.05 })
  const which = { agent: 'reader', window: '6h', settle: '10m', reporters: { trusted: ['k'] } }
  const source = traffic({ ...which, evaluation: suite })
  const good: PractisedModelOptions = { practice: () => 5 }

  it('nobody gets what is not shown to be better', async () => {
    await sessions('s', 4)
    const { summary, story } = await run({ source, gate, model: { practice: () => 0 } })
    expect(story).toContain('progress')
    expect(summary).toMatchObject({ outcome: 'rejected', evidence: 'held-out', canary: null })
    expect(summary.decision).not.toBe('promote')
    expect((await store.receipts.get(summary.receipt!))?.decision).toBe(summary.decision)
  })

  it('what is better goes into its canary on a receipt that replays', async () => {
    await sessions('s', 4)
    const { summary } = await run({ source, gate, model: good })
    expect(summary).toMatchObject({ outcome: 'canary', decision: 'promote', evidence: 'held-out' })
    const receipt = (await store.receipts.get(summary.receipt!))!
    expect(replay(receipt)).toBe('promote')
    expect((await store.canaries.get(summary.canary!))?.admission).toBe(receipt.id)
    expect(isPaired(receipt) && (await store.ledger.uses(receipt.outcomes.map(({ task }) => task)))).toHaveLength(1)
  })

  it('what was learned before is measured beside, suite by suite', async () => {
    await sessions('s', 4)
    const limited = pairedGate({ margin: 0.02, alpha: 0.05, suites: { words: { allowed: 0.05 } } })
    const withSuite = traffic({
      ...which,
      evaluation: suite,
      // A suite on which nothing can be right: nothing can be forgotten either.
      suites: { words: { ...suite, reward: rubric({ never: verifier(() => 0, 'never') }) } },
    })
    const { summary, events } = await run({ source: withSuite, gate: limited, model: good })
    expect(summary.decision).toBe('promote')
    const measured = events.flatMap((event) => (event.type === 'measured' ? [event] : []))
    expect(measured.map(({ suite: name, arm, meanReward }) => [name, arm, meanReward])).toEqual([
      ['held-out', 'serving', 0],
      ['held-out', 'learned', 1],
      ['words', 'serving', 0],
      ['words', 'learned', 0],
    ])
    const receipt = (await store.receipts.get(summary.receipt!))!
    expect(isPaired(receipt) && Object.keys(receipt.suites ?? {})).toEqual(['words'])
  })
})

describe('a process', () => {
  it('whose place another has taken begins no canary', async () => {
    await sessions('s', 4)
    let isLost = false
    const mayWrite = async () => {
      if (isLost) throw new LostLeaseError('learn:reader')
    }
    // After the last checkpoint before the canary.
    const list: Store['canaries']['list'] = (asked) => {
      isLost = true
      return store.canaries.list(asked)
    }
    const losing = { ...store, canaries: { ...store.canaries, list } }
    await expect(runTraffic(losing, now, { mayWrite })).rejects.toThrow(LostLeaseError)
    expect(isLost).toBe(true)
    expect(await store.canaries.list({ limit: 1 })).toEqual([])
    expect((await run({ resume: (await only()).id })).summary.outcome).toBe('canary')
  })

  it('that ends before its batch was kept has told of no flood: whoever goes on gathers anew', async () => {
    await sessions('m', 6, { subject: 'mallory' })
    for (const subject of ['a', 'b', 'c', 'd']) await sessions(subject, 2, { subject })
    let writes = 0
    const mayWrite = async () => {
      writes++
      if (writes === 3) throw new LostLeaseError('learn:reader')
    }
    await expect(run({ mayWrite })).rejects.toThrow(LostLeaseError)
    expect(await store.alerts.list({ limit: 1 })).toEqual([])
    now += 1_000
    const { summary } = await run({ resume: (await only()).id })
    expect(summary.outcome).toBe('canary')
    expect(await store.alerts.list({ limit: 9 })).toMatchObject([{ kind: 'flood', name: 'k:mallory' }])
  })

  it('whose place another has taken writes nothing more: the run is the other’s', async () => {
    await sessions('s', 4)
    let writes = 0
    const mayWrite = async () => {
      writes++
      if (writes > 3) throw new LostLeaseError('learn:reader')
    }
    await expect(run({ mayWrite })).rejects.toThrow(LostLeaseError)
    expect(await only()).toMatchObject({ status: 'running', versionsOut: null })
    expect(await store.canaries.list({ limit: 1 })).toEqual([])
    expect((await run({ resume: (await only()).id })).summary.outcome).toBe('canary')
  })
})

describe('is refused, and nothing is written', () => {
  const { environment, holdout } = rollouts(wordEnvironment, readerTasks)
  const evaluation = { environment, holdout, agent: reader, reward: rubric({ never: verifier(() => 0, 'never') }) }
  const source = traffic({ agent: 'reader', evaluation })
  it.each([
    ['learn/other-traffic', { source: traffic({ agent: 'writer' }) }],
    ['learn/no-evidence', { release: direct() }],
    ['learn/no-gate', { source }],
    ['learn/suites-without-evaluation', { source: traffic({ agent: 'reader', suites: { words: evaluation } }) }],
    ['learn/unknown-run', { resume: 'run-0' as never }],
  ])('%s', async (code, changes) => {
    await expect(run(changes)).rejects.toMatchObject({ code })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('lengths of time that are none', () => {
    for (const window of ['soon', '5', '-1h', '1y']) {
      expect(() => traffic({ agent: 'reader', window })).toThrow(expect.objectContaining({ code: 'input/invalid' }))
    }
    expect(traffic({ agent: 'a', window: '90s', settle: '2d' })).toMatchObject({ window: 90_000, settle: 172_800_000 })
  })
})
