import { describe, expect, it } from 'vitest'
import { practisedModel } from '../../../test/support/practised-model.ts'
import { keptAtServer } from '../../../test/support/kept-at-server.ts'
import type { TrainerCapabilities } from '../../core/index.ts'
import { refuseIncapable, type TrainerNeeds } from './trainer-needs.ts'

const nothing: TrainerNeeds = { losses: [], temperature: null }
const method = { kind: 'lora', rank: 4, alpha: 4 } as const
const served = () => keptAtServer(practisedModel().service).service.trainer(method, 0)

describe('a trainer', () => {
  const lacking: readonly [string, Partial<TrainerCapabilities>, Partial<TrainerNeeds>, string][] = [
    ['a loss', { losses: ['cross_entropy'] }, { losses: ['cross_entropy', 'cispo'] }, 'the loss "cispo".'],
    ['temperatures', { temperatures: false }, { temperature: 0.8 }, 'losses at the temperature 0.8'],
    ['bytes', {}, { bytesFor: ['schedule.averaging'] }, 'weights in bytes, for schedule.averaging'],
    ['anchors', {}, { anchorsFor: ['schedule.anchor'] }, 'anchors, for schedule.anchor'],
    [
      'an auxiliary head',
      {},
      { auxiliaryFor: ['the option auxiliary'] },
      'an auxiliary head, for the option auxiliary',
    ],
  ]
  it.each(lacking)('without %s is refused where it is needed', async (_, changed, needs, told) => {
    const trainer = await served()
    const capable = { ...trainer, capabilities: { ...trainer.capabilities, ...changed } }
    expect(() => refuseIncapable(capable, { ...nothing, ...needs })).toThrow(
      expect.objectContaining({ code: 'learn/trainer-lacks', message: expect.stringContaining(told) }),
    )
  })

  it('is told of all that it lacks at once', async () => {
    const needs = { losses: [], temperature: null, bytesFor: ['a'], anchorsFor: ['b'] }
    const trainer = await served()
    expect(() => refuseIncapable(trainer, needs)).toThrow('weights in bytes, for a; anchors, for b')
  })

  it('that can do all of it may start', async () => {
    const trainer = await practisedModel().service.trainer(method, 0)
    refuseIncapable(trainer, { losses: ['cispo'], temperature: 0.8, bytesFor: ['schedule.averaging'] })
    refuseIncapable(await served(), { losses: ['cross_entropy'], temperature: 1 })
  })
})
