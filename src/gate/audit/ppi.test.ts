import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { type Judgements, poweredDifference, poweredMean } from './ppi.ts'

/** A judge who knows the truth with probability `sharp`, else guesses, and says 1 too often by `bias`. */
function judged(
  name: string,
  { mean = 0.5, sharp = 0.8, bias = 0, labels = 60, others = 2_000 },
): Judgements & { readonly truths: readonly number[] } {
  const stream = rng('ppi', name)
  const draw = () => {
    const truth = Number(stream.next() < mean)
    const said = stream.next() < sharp ? truth : Number(stream.next() < 0.5)
    return { truth, judged: stream.next() < bias ? 1 : said }
  }
  const labelled = Array.from({ length: labels }, draw)
  return {
    labelled,
    unlabelled: Array.from({ length: others }, () => draw().judged),
    truths: labelled.map(({ truth }) => truth),
  }
}

const LIVES = 400
/** Misses of 400 intervals at 95 % exceed this with probability below 0.001; an asymptotic interval of 60 labels misses some more. */
const MISSES = 44

describe('prediction-powered inference', () => {
  it.each([
    ['a judge that knows', { sharp: 0.9 }],
    ['a judge that guesses', { sharp: 0 }],
    ['a judge that flatters', { sharp: 0.6, bias: 0.5 }],
  ])('has intervals that hold: %s', (name, law) => {
    let misses = 0
    for (let life = 0; life < LIVES; life++) {
      const arms = {
        baseline: judged(`${name} b${life}`, law),
        candidate: judged(`${name} c${life}`, { ...law, mean: 0.6 }),
      }
      const { interval } = poweredDifference(arms, 0.95)
      if (interval[0] > 0.1 || interval[1] < 0.1) misses++
    }
    expect(misses).toBeLessThanOrEqual(MISSES)
  })

  it('is surer with a judge that knows, and trusts one that guesses hardly at all', () => {
    const [sharp, blunt] = [judged('sharp', { sharp: 0.9 }), judged('blunt', { sharp: 0 })]
    const known = poweredMean(sharp)
    expect(known.trust).toBeGreaterThan(0.7)
    expect(known.variance).toBeLessThan(0.4 * (0.25 / 60))
    expect(poweredMean(blunt).trust).toBeLessThan(0.3)
  })

  it('tells its own variance: that of its estimates over many samples', () => {
    const all = Array.from({ length: LIVES }, (_, life) => poweredMean(judged(`v${life}`, {})))
    const mean = all.reduce((sum, one) => sum + one.mean, 0) / LIVES
    const spread = all.reduce((sum, one) => sum + (one.mean - mean) ** 2, 0) / (LIVES - 1)
    const told = all.reduce((sum, one) => sum + one.variance, 0) / LIVES
    expect(told / spread).toBeGreaterThan(0.75)
    expect(told / spread).toBeLessThan(1.33)
  })

  it('is the labels’ mean where nothing else is known', () => {
    const { labelled, truths } = judged('alone', {})
    expect(poweredMean({ labelled, unlabelled: [] }).mean).toBeCloseTo(truths.reduce((a, b) => a + b, 0) / 60)
    expect(() => poweredMean({ labelled: labelled.slice(0, 1), unlabelled: [] })).toThrow('1 label')
  })
})
