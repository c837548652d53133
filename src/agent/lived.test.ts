import { describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../test/support/trajectories.ts'
import type { Credit } from '../core/index.ts'
import { cameTo, lived } from './lived.ts'

const trajectory = trajectoryOf()
const [decision] = trajectory.decisions
if (!decision) throw new Error('nothing was decided')

const came = (credit: Partial<Credit>) =>
  cameTo(lived(trajectory, { trajectory: trajectory.id, decision: decision.id, advantage: null, ...credit }))

describe('what an episode came to', () => {
  it.each([
    [0, -1, 'failed'],
    [0.25, -0.5, 'failed'],
    [0.5, 0, 'worked'],
    [1, 1, 'worked'],
  ])('in practice, from 0 to 1: what earned %s', (utility, signal, example) => {
    expect(came({ utility, range: [0, 1] })).toEqual({ signal, example })
    expect(came({ utility })).toEqual({ signal, example })
  })

  it.each([
    ['accepted', 0.5, 0.5, 'worked'],
    ['neither liked nor disliked', 0, 0, null],
    ['asked the same again', -0.5, -0.5, 'failed'],
    ['thumbs down', -1, -1, 'failed'],
    ['accepted, at a quarter of its worth', 0.125, 0.125, 'worked'],
  ])('in traffic, from -1 to 1: %s', (_, utility, signal, example) => {
    expect(came({ utility, range: [-1, 1] })).toEqual({ signal, example })
  })

  it('in the unit of any rubric', () => {
    expect(came({ utility: 3, range: [0, 4] })).toEqual({ signal: 0.5, example: 'worked' })
    expect(came({ utility: 0, range: [-0.5, 1] })).toMatchObject({ example: 'failed' })
    expect(came({ utility: 1, range: [1, 1] })).toBeNull()
  })
})
