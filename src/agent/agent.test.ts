import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Agent, defineAgent, weightsOf } from './agent.ts'
import { text, weights } from './parameters.ts'
import type { TextParameter } from './text-parameter.ts'
import type { WeightsParameter } from './weights-parameter.ts'

const parameters = { model: weights({ base: 'tiny' }), judge: weights({ base: 'tiny', rank: 4 }), system: text('Hi.') }
const run: Agent['run'] = () => Promise.resolve({ stopReason: 'done', message: null })

describe('defineAgent', () => {
  it('keeps the declaration, with defaults filled in', () => {
    expect(defineAgent({ name: 'a', parameters, run }).parameters).toMatchObject({
      model: { kind: 'weights', base: 'tiny', method: { kind: 'lora', rank: 32, alpha: 32 } },
      judge: { kind: 'weights', base: 'tiny', method: { kind: 'lora', rank: 4, alpha: 4 } },
      system: { kind: 'text' },
    })
  })

  it('gives each Parameter the handle of its kind', () => {
    defineAgent({
      name: 'a',
      parameters,
      run(_task, handles) {
        expectTypeOf(handles.model).toEqualTypeOf<WeightsParameter>()
        expectTypeOf(handles.system).toEqualTypeOf<TextParameter>()
        // @ts-expect-error only what was declared
        void handles.memory
        return Promise.resolve({ stopReason: 'done', message: null })
      },
    })
  })

  it('does not let the agent read what the checker needs', () => {
    expectTypeOf<keyof Parameters<Agent['run']>[0]>().toEqualTypeOf<'id' | 'instruction'>()
  })

  it.each(['', '2nd', 'a b', 'a/b'])('refuses the name %j', (name) => {
    expect(() => defineAgent({ name, parameters, run })).toThrow('cannot name an agent or a parameter')
    expect(() => defineAgent({ name: 'a', parameters: { [name]: text('') }, run })).toThrow(`"${name}"`)
  })
})

it('lists the Parameters that a model answers for', () => {
  expect(weightsOf(defineAgent({ name: 'a', parameters, run }))).toEqual(['model', 'judge'])
})
