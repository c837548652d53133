import * as fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { choice, even } from '../../test/support/choice-kind.ts'
import { trajectoryOf } from '../../test/support/trajectories.ts'
import {
  contentHash,
  type Json,
  type Kind,
  mintVersion,
  ParameterValue,
  type Propensity,
  rng,
  VersionId,
} from '../core/index.ts'
import { defineAgent } from './agent.ts'
import { backward } from './backward.ts'
import { depositRule } from './deposit-rule.ts'
import { initialVersions } from './initial-versions.ts'
import { storedValue, valueIn } from './kind-value.ts'
import { bindParameter, parameter, text, weights } from './parameters.ts'
import { Recorder, recording } from './recorder.ts'
import { textKind } from './text-kind.ts'
import { weightsKind } from './weights-kind.ts'

const base = { base: 'b', baseHash: 'b-content', adapter: null }

describe('a value', () => {
  it('is stored as it always was, under the same address', () => {
    expect(storedValue('model', weightsKind, base)).toEqual({ kind: 'weights', ...base })
    expect(storedValue('system', textKind, { text: 'Be brief.' })).toEqual({ kind: 'text', text: 'Be brief.' })
    const stored = storedValue('route', choice, even)
    expect(stored).toEqual({ kind: 'choice', value: even })
    const { id } = mintVersion('system', storedValue('system', textKind, { text: 'Be brief.' }), {
      parents: [],
      run: null,
    })
    expect(id).toBe(contentHash({ parameter: 'system', value: { kind: 'text', text: 'Be brief.' } }))
  })

  it('comes back from its stored form as it was', () => {
    const values = fc.record({
      options: fc.array(fc.string(), { minLength: 2 }),
      preferences: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })),
    })
    fc.assert(
      fc.property(values, (value) => {
        const stored = storedValue('route', choice, value)
        expect(valueIn('route', choice, ParameterValue.parse(stored))).toEqual(value)
      }),
    )
    fc.assert(
      fc.property(fc.string(), (said) => {
        expect(valueIn('system', textKind, storedValue('system', textKind, { text: said }))).toEqual({ text: said })
      }),
    )
  })

  it.each([null, {}, { options: ['one'], preferences: [] }, { ...even, preferences: [Number.NaN] }])(
    'that its schema refuses is refused: %j',
    (value) => {
      expect(() => storedValue('route', choice, value)).toThrow(
        expect.objectContaining({ code: 'agent/bad-value', message: expect.stringContaining('"route"') }),
      )
    },
  )

  it('of another kind is refused, and so is one that its schema no longer takes', () => {
    const stored = ParameterValue.parse({ kind: 'text', text: '' })
    expect(() => valueIn('route', choice, stored)).toThrow(expect.objectContaining({ code: 'agent/other-kind' }))
    const old = ParameterValue.parse({ kind: 'choice', value: { options: [] } as Json })
    expect(() => valueIn('route', choice, old)).toThrow(expect.objectContaining({ code: 'agent/bad-value' }))
  })

  it('names the bytes that it needs', () => {
    const adapter = 'a'.repeat(64)
    expect(weightsKind.blobs?.({ ...base, adapter })).toEqual([adapter])
    expect(weightsKind.blobs?.(base)).toEqual([])
  })
})

describe('a declared Parameter', () => {
  const parameters = { model: weights({ base: 'b' }), system: text('Hi.'), route: parameter(choice, even) }
  const agent = defineAgent({
    name: 'a',
    parameters,
    run(_task, handles) {
      expectTypeOf(handles.route).toEqualTypeOf<{ choose(): string }>()
      return Promise.resolve({ stopReason: 'done', message: null })
    },
  })

  it('has an initial Version, whatever its kind', () => {
    const values = [...initialVersions(agent, (name) => `${name}-content`).values()].map(({ value }) => value)
    expect(values).toEqual([
      { kind: 'weights', ...base },
      { kind: 'text', text: 'Hi.' },
      { kind: 'choice', value: even },
    ])
  })

  it.each([
    ['without a module', { kind: 'memory' }],
    ['with another module', { ...text(''), kind: 'weights' }],
    ['with a name that none can have', parameter({ ...choice, kind: 'My Kind' as 'choice' }, even)],
  ])('%s is refused', (_, route) => {
    expect(() => defineAgent({ ...agent, parameters: { route } as never })).toThrow(
      expect.objectContaining({ code: 'agent/unknown-kind' }),
    )
  })
})

describe('a handle of a Kind', () => {
  const inForce = { version: VersionId.parse('v'), generation: 3, checkpoint: 2 }
  const definition = parameter(choice, even)
  const handle = (value = even) =>
    bindParameter('route', definition, { kind: 'choice', inForce, value, rng: rng('a') }) as { choose(): string }

  it('records what it decided, and repeats with its chance', async () => {
    const recorder = new Recorder()
    const chosen = await recording(recorder, async () => [handle().choose(), handle().choose()])
    expect(chosen[0]).toBe(chosen[1])
    const { decisions } = recorder.finish()
    expect(decisions).toHaveLength(2)
    expect(decisions[0]).toMatchObject({
      parameter: 'route',
      kind: 'choice',
      ...inForce,
      output: null,
      made: { chances: [0.5, 0.5] },
      propensity: { log: Math.log(0.5) },
    })
  })

  it('cannot record what its schema refuses', async () => {
    const wrong = parameter(
      {
        ...choice,
        handle: (_, recorder) => ({
          choose() {
            recorder.decide({ made: 1 as never, propensity: { log: 0 } })
            return ''
          },
        }),
      },
      even,
    )
    const bound = bindParameter('route', wrong, { kind: 'choice', inForce, value: even, rng: rng('a') })
    const recorder = new Recorder()
    const decide = recording(recorder, async () => (bound as { choose(): string }).choose())
    await expect(decide).rejects.toMatchObject({ code: 'agent/bad-decision' })
    expect(recorder.finish().decisions).toEqual([])
  })
})

describe('a propensity', () => {
  const inForce = { version: VersionId.parse('v'), generation: 3, checkpoint: 2 }
  const deciding = (propensity: unknown) => {
    const kind: Kind<'free', number, number, { decide(): void }> = {
      kind: 'free',
      value: z.number(),
      made: z.number(),
      handle: (_, recorder) => ({
        decide: () => recorder.decide({ made: 1, propensity: propensity as Propensity }),
      }),
      deposit: () => [],
    }
    const bound = bindParameter('route', parameter(kind, 0), { kind: 'free', inForce, value: 0, rng: rng('a') })
    const recorder = new Recorder()
    return { recorder, decide: recording(recorder, async () => (bound as { decide(): void }).decide()) }
  }

  it.each([
    { log: Number.NaN },
    { log: Number.NEGATIVE_INFINITY },
    { log: 0.5 },
    { log: null },
    {},
    undefined,
    { log: null, reason: 'I forgot' },
  ])('that no reader accepts is refused: %j', async (propensity) => {
    const { recorder, decide } = deciding(propensity)
    await expect(decide).rejects.toMatchObject({
      code: 'agent/bad-decision',
      message: expect.stringContaining('"route"'),
    })
    expect(recorder.finish().decisions).toEqual([])
  })

  it.each([{ log: -3 }, { log: 1e-9 }, { log: null, reason: 'deterministic' }])('is kept: %j', async (propensity) => {
    const { recorder, decide } = deciding(propensity)
    await decide
    expect(recorder.finish().decisions).toMatchObject([{ propensity }])
  })
})

describe('backward on a Kind', () => {
  const decision = { kind: 'choice', parameter: 'route', version: 'v1' }
  const made = { chosen: 1, chances: [0.25, 0.75] }
  const withMade = (...all: (Json | undefined)[]) => {
    const trajectory = trajectoryOf({ nodes: [], decisions: all.map(() => decision) })
    return {
      ...trajectory,
      decisions: trajectory.decisions.map((one, i) => ({ ...one, ...(all[i] === undefined ? {} : { made: all[i] }) })),
    }
  }

  it('deposits by the Kind’s own rule, for each Version', () => {
    const trajectory = withMade(made, made)
    const credits = trajectory.decisions.map(({ id }, i) => ({
      trajectory: trajectory.id,
      decision: id,
      advantage: i === 0 ? 2 : null,
    }))
    const gradients = backward(
      { trajectories: [trajectory], credits },
      { parameter: 'route', rule: depositRule(choice) },
    )
    expect(gradients).toEqual([{ parameter: 'route', version: 'v1', deposits: [{ ...made, advantage: 2 }] }])
  })

  it('refuses decisions that the Kind cannot read', () => {
    const trajectory = withMade(undefined)
    const credits = trajectory.decisions.map(({ id }) => ({ trajectory: trajectory.id, decision: id, advantage: 1 }))
    const learns = { parameter: 'route', rule: depositRule(choice) }
    expect(() => backward({ trajectories: [trajectory], credits }, learns)).toThrow(
      expect.objectContaining({ code: 'agent/unreadable-decision' }),
    )
  })
})
