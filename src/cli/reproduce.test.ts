import { describe, expect, it } from 'vitest'
import { type Json, RunId } from '../core/index.ts'
import { LearnConfig } from '../recipe/index.ts'
import { reproduce } from './reproduce.ts'

const run = (learn: Json, kept = {}) => ({ id: RunId.parse('run-1'), seed: 3, config: { learn, ...kept } })
const kept = (config: object) => LearnConfig.parse(config) as unknown as Json

describe('reproduce', () => {
  it('needs flags only for the main job, in the precision that was chosen', () => {
    expect(reproduce(run(kept({ precision: 'int8' })))).toEqual({
      arguments: 'learn --seed 3 --precision int8',
      config: null,
    })
    const short = kept({ precision: 'float32', schedule: { goodEnough: { success: 0.85, seconds: 420 } } })
    expect(reproduce(run(short, { control: true }))).toEqual({
      arguments: 'learn --seed 3 --precision float32 --minutes 7 --control',
      config: null,
    })
  })

  it('says the precision of a run that had no choice', () => {
    const { precision: _, ...earlier } = LearnConfig.parse({})
    const learn = earlier as unknown as Json
    expect(reproduce(run(learn))).toEqual({ arguments: 'learn --seed 3 --precision float32', config: null })
  })

  it('needs the configuration of any other job', () => {
    for (const learn of [kept({ agent: 'mine' }), kept({ schedule: { goodEnough: { success: 0.5, seconds: 60 } } })])
      expect(reproduce(run(learn))).toEqual({
        arguments: 'learn --seed 3 --config run-1.json',
        config: { file: 'run-1.json', content: learn },
      })
  })

  it('is not for a program of one’s own, or for traffic', () => {
    expect(reproduce({ ...run({}), config: { own: true } })).toBeNull()
    expect(reproduce(run({ unknown: 1 }))).toBeNull()
  })
})
