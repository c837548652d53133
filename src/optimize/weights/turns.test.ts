import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GroupId, type PolicySample, TrajectoryId } from '../../core/index.ts'
import { onlyTurns, samplesOfTurns, type Turns } from './turns.ts'

const flags = (text: string) => Array.from(text, (letter) => letter === 'x')
const read = (kept: readonly boolean[]) => kept.map((flag) => (flag ? 'x' : '.')).join('')

it.each([
  ['all', '..xx.x..xxx', '..xx.x..xxx'],
  ['first', '..xx.x..xxx', '..xx.......'],
  ['rest', '..xx.x..xxx', '.....x..xxx'],
  ['last', '..xx.x..xxx', '........xxx'],
  ['first', 'xx.', 'xx.'],
  ['rest', '.xx', '...'],
  ['last', '.xx.', '.xx.'],
  ['first', '...', '...'],
  ['last', '...', '...'],
] as const)('%s of %s is %s', (turns, given, kept) => {
  expect(read(onlyTurns(flags(given), turns))).toBe(kept)
})

it('the first and the rest are all, and share nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean()), (given) => {
      const [first, rest] = [onlyTurns(given, 'first'), onlyTurns(given, 'rest')]
      expect(given.map((_, t) => first[t] || rest[t])).toEqual(given)
      expect(given.some((_, t) => first[t] && rest[t])).toBe(false)
    }),
  )
})

describe('of samples', () => {
  const sampleOf = (text: string, episode?: string): PolicySample => {
    const sampled = flags(text)
    return {
      group: GroupId.parse('g'),
      ...(episode !== undefined && { trajectory: TrajectoryId.parse(episode) }),
      tokens: sampled.map(() => 1),
      advantages: sampled.map((flag) => (flag ? 2 : 0)),
      behaviourLogprobs: sampled.map(() => 0),
      sampled,
      temperature: 1,
      truncated: false,
    }
  }
  const kept = (samples: readonly PolicySample[], turns: Turns) =>
    samplesOfTurns(samples, turns).map(({ sampled }) => read(sampled))

  it('others are context, without an advantage', () => {
    const [found] = samplesOfTurns([sampleOf('.xx.x')], 'last')
    expect(found).toMatchObject({ sampled: flags('....x'), advantages: [0, 0, 0, 0, 2] })
  })

  it('a branch has no first turn where an earlier one carries it', () => {
    const branched = [sampleOf('.x.xx', 'a'), sampleOf('...xx', 'a'), sampleOf('.x', 'b'), sampleOf('.x')]
    expect(kept(branched, 'first')).toEqual(['.x...', '.....', '.x', '.x'])
    expect(kept(branched, 'rest')).toEqual(['...xx', '...xx', '..', '..'])
    expect(kept(branched, 'last')).toEqual(['...xx', '...xx', '.x', '.x'])
  })
})
