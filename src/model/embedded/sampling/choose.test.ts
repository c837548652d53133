import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DrawParams, TokenChooser, graphTemperature } from './choose.ts'
import { uniform } from './uniform.ts'

const all: DrawParams = { temperature: 1, topK: Number.POSITIVE_INFINITY, topP: 1 }

/** What the graph hands over for these logits: a softmax row at the params' temperature, and the correction. */
function graphRow(logits: readonly number[], params: DrawParams) {
  const temperature = graphTemperature(params)
  const logSoftmax = (values: readonly number[]) => {
    const logSum = Math.log(values.reduce((sum, value) => sum + Math.exp(value), 0))
    return values.map((value) => value - logSum)
  }
  const scaled = logSoftmax(logits.map((logit) => logit / temperature))
  const plain = logSoftmax(logits)
  return { probabilities: Float32Array.from(scaled, Math.exp), correction: plain[0]! - temperature * scaled[0]!, plain }
}

function choose(logits: readonly number[], params: DrawParams, random: number, allowed: Int32Array | null = null) {
  const chooser = new TokenChooser(logits.length)
  const { probabilities, correction } = graphRow(logits, allowed === null ? params : { ...params, temperature: 1 })
  chooser.choose(probabilities, 0, correction, params, random, allowed)
  const { token, behaviourLogprob, logprob } = chooser
  return { token, behaviourLogprob, logprob }
}

/** Logits of the probabilities 0.1, 0.4, 0.2, 0.3. */
const logits = [0.1, 0.4, 0.2, 0.3].map(Math.log)

describe('choosing a token', () => {
  it('inverts the cumulative distribution', () => {
    const tokens = [0, 0.09, 0.11, 0.49, 0.51, 0.69, 0.71, 0.999999].map((random) => choose(logits, all, random).token)
    expect(tokens).toEqual([0, 0, 1, 1, 2, 2, 3, 3])
  })

  it('records the probability drawn from, and the one at temperature 1', () => {
    const { token, behaviourLogprob, logprob } = choose(logits, { ...all, temperature: 0.5 }, 0.2)
    // At temperature 0.5 probabilities are squared: 0.01, 0.16, 0.04, 0.09 over 0.3.
    expect(token).toBe(1)
    expect(behaviourLogprob).toBeCloseTo(Math.log(0.16 / 0.3), 6)
    expect(logprob).toBeCloseTo(Math.log(0.4), 6)
  })

  it('tells no log-probability above 0, whatever the rounding of the correction', () => {
    const chooser = new TokenChooser(2)
    chooser.choose(Float32Array.of(1, 0), 0, 3e-6, { ...all, temperature: 0.7 }, 0.5)
    expect(chooser.logprob).toBe(0)
  })

  it('takes the first of the most likely tokens when greedy, with certainty', () => {
    const { token, behaviourLogprob, logprob } = choose([1, 3, 3, 2], { ...all, temperature: 0 }, 0.99)
    expect(token).toBe(1)
    expect(behaviourLogprob).toBe(0)
    expect(logprob).toBeCloseTo(3 - Math.log(Math.exp(1) + 2 * Math.exp(3) + Math.exp(2)), 6)
  })

  it('keeps the k most likely tokens', () => {
    const params = { ...all, topK: 2 }
    expect([0, 0.57, 0.58, 0.99].map((random) => choose(logits, params, random).token)).toEqual([1, 1, 3, 3])
    expect(choose(logits, params, 0).behaviourLogprob).toBeCloseTo(Math.log(0.4 / 0.7), 6)
    expect(choose(logits, params, 0).logprob).toBeCloseTo(Math.log(0.4), 6)
  })

  it('keeps the smallest set whose mass reaches p', () => {
    expect(choose(logits, { ...all, topP: 0.39 }, 0.99).token).toBe(1)
    expect(choose(logits, { ...all, topP: 0.41 }, 0.99).token).toBe(3)
    expect(choose(logits, { ...all, topP: 0.69 }, 0.99)).toMatchObject({ token: 3 })
    expect(choose(logits, { ...all, topP: 0.71 }, 0.99)).toMatchObject({ token: 2 })
    expect(choose(logits, { ...all, topP: 0.71 }, 0.99).behaviourLogprob).toBeCloseTo(Math.log(0.2 / 0.9), 6)
  })

  it('applies top-p to what top-k kept', () => {
    // Of 0.4 and 0.3 the first has mass 0.571 of what is kept.
    expect(choose(logits, { ...all, topK: 2, topP: 0.55 }, 0.99).token).toBe(1)
    expect(choose(logits, { ...all, topK: 2, topP: 0.6 }, 0.99).token).toBe(3)
  })

  it('reads the row that it is asked for', () => {
    const chooser = new TokenChooser(2)
    chooser.choose(Float32Array.of(1, 0, 0.25, 0.75), 1, 0, all, 0.5)
    expect(chooser.token).toBe(1)
    expect(chooser.logprob).toBeCloseTo(Math.log(0.75), 6)
  })

  it('never chooses an impossible token, even at the end of a sum that rounding left below 1', () => {
    const chooser = new TokenChooser(3)
    chooser.choose(Float32Array.of(0.5, 0.4999, 0), 0, 0, all, 0.99999)
    expect(chooser.token).toBe(1)
  })
})

/** A bit for each of these tokens. */
const mask = (...tokens: readonly number[]) => {
  const words = new Int32Array(Math.ceil((Math.max(0, ...tokens) + 1) / 32))
  for (const token of tokens) words[token >>> 5] = words[token >>> 5]! | (1 << (token & 31))
  return words
}

describe('choosing among allowed tokens', () => {
  it('inverts their cumulative distribution, renormalised', () => {
    // 0.1 and 0.3 of 0.4: the first has a quarter.
    const allowed = mask(0, 3)
    expect([0, 0.24, 0.26, 0.99].map((random) => choose(logits, all, random, allowed).token)).toEqual([0, 0, 3, 3])
    const { behaviourLogprob, logprob } = choose(logits, all, 0.5, allowed)
    expect(behaviourLogprob).toBeCloseTo(Math.log(0.3 / 0.4), 6)
    expect(logprob).toBeCloseTo(Math.log(0.3), 6)
  })

  it('applies the temperature to them alone', () => {
    // Squared: 0.01 and 0.09.
    const { token, behaviourLogprob, logprob } = choose(logits, { ...all, temperature: 0.5 }, 0.11, mask(0, 3))
    expect(token).toBe(3)
    expect(behaviourLogprob).toBeCloseTo(Math.log(0.9), 6)
    expect(logprob).toBeCloseTo(Math.log(0.3), 6)
  })

  it('takes the first of the most likely ones when greedy', () => {
    expect(choose([1, 3, 2, 2], { ...all, temperature: 0 }, 0.9, mask(0, 2, 3))).toMatchObject({
      token: 2,
      behaviourLogprob: 0,
    })
  })

  it('keeps the k most likely ones, and the smallest set whose share of them reaches p', () => {
    const allowed = mask(0, 2, 3)
    expect(choose(logits, { ...all, topK: 2 }, 0, allowed).token).toBe(3)
    expect(choose(logits, { ...all, topK: 2 }, 0.99, allowed)).toMatchObject({ token: 2 })
    expect(choose(logits, { ...all, topK: 2 }, 0.99, allowed).behaviourLogprob).toBeCloseTo(Math.log(0.2 / 0.5), 6)
    expect(choose(logits, { ...all, topK: 3 }, 0.999, allowed).token).toBe(0)
    // 0.3 of 0.6 is one half.
    expect(choose(logits, { ...all, topP: 0.49 }, 0.99, allowed).token).toBe(3)
    expect(choose(logits, { ...all, topP: 0.51 }, 0.99, allowed).token).toBe(2)
    expect(choose(logits, { ...all, topP: 0.51 }, 0.99, allowed).behaviourLogprob).toBeCloseTo(Math.log(0.2 / 0.5), 6)
    expect(choose(logits, { ...all, topK: 1, topP: 0.1 }, 0.99, mask(0)).token).toBe(0)
  })

  it('finds them where the model gives them next to nothing, at low temperatures too', () => {
    const far = [80, 0, -1]
    expect(choose(far, { ...all, temperature: 0.1 }, 0, mask(1, 2)).behaviourLogprob).toBeCloseTo(
      -Math.log(1 + Math.exp(-10)),
      4,
    )
  })

  it('draws evenly among those that float32 gives nothing, and tells a finite log-probability', () => {
    const chooser = new TokenChooser(3)
    chooser.choose(Float32Array.of(1, 0, 0), 0, 0, { ...all, temperature: 0.7 }, 0.6, mask(1, 2))
    expect(chooser.token).toBe(2)
    expect(chooser.behaviourLogprob).toBeCloseTo(-Math.log(2), 6)
    expect(chooser.logprob).toBeLessThan(-103)
    chooser.choose(Float32Array.of(1, 0, 0), 0, 0, { ...all, temperature: 0 }, 0.6, mask(1, 2))
    expect(chooser.token).toBe(1)
  })
})

const row = fc.array(fc.double({ min: -12, max: 12, noNaN: true }), { minLength: 2, maxLength: 80 })
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('properties of truncation', () => {
  it('top-k draws among the k most likely, and its probabilities are renormalised', () => {
    fc.assert(
      fc.property(row, fc.integer({ min: 1, max: 90 }), random, (values, topK, u) => {
        const params = { ...all, topK }
        const { token, behaviourLogprob } = choose(values, params, u)
        const { probabilities } = graphRow(values, params)
        const better = probabilities.filter((p) => p > probabilities[token]!).length
        expect(better).toBeLessThan(topK)
        const kept = [...probabilities].toSorted((a, b) => b - a).slice(0, topK)
        const mass = kept.reduce((sum, p) => sum + p, 0)
        expect(behaviourLogprob).toBeCloseTo(Math.log(probabilities[token]! / mass), 5)
      }),
    )
  })

  it('top-p keeps a set that reaches p and would not without its least likely member', () => {
    fc.assert(
      fc.property(row, fc.double({ min: 0.01, max: 0.999, noNaN: true }), (values, topP) => {
        const params = { ...all, topP }
        const { probabilities } = graphRow(values, params)
        const last = choose(values, params, 1 - 2 ** -53)
        const mass = probabilities[last.token]! / Math.exp(last.behaviourLogprob)
        expect(mass).toBeGreaterThanOrEqual(topP - 1e-6)
        expect(mass - probabilities[last.token]!).toBeLessThan(topP + 1e-6)
      }),
    )
  })

  it('p = 1 and k = everything are no truncation', () => {
    fc.assert(
      fc.property(row, random, (values, u) => {
        expect(choose(values, { ...all, topK: values.length, topP: 1 }, u)).toEqual(choose(values, all, u))
      }),
    )
  })
})

it.each([
  ['all', all],
  ['top-k', { ...all, topK: 3 }],
  ['top-p', { ...all, temperature: 0.7, topP: 0.9 }],
] as const)('draws as often as it says: %s (χ², p > 1e-6)', (_, params) => {
  const draws = 20_000
  const counts = new Map<number, number>()
  const expected = new Map<number, number>()
  for (let i = 0; i < draws; i++) {
    const { token, behaviourLogprob } = choose(logits, params, uniform(1, i))
    counts.set(token, (counts.get(token) ?? 0) + 1)
    expected.set(token, draws * Math.exp(behaviourLogprob))
  }
  expect([...expected.values()].reduce((sum, value) => sum + value, 0)).toBeCloseTo(draws, 0)
  const chiSquare = [...expected].reduce((sum, [token, wanted]) => sum + (counts.get(token)! - wanted) ** 2 / wanted, 0)
  // At most 3 degrees of freedom.
  expect(chiSquare).toBeLessThan(30.7)
})

describe('properties of masks', () => {
  const masked = fc
    .record({
      values: row,
      picks: fc.array(fc.nat(79), { minLength: 1, maxLength: 20 }),
      temperature: fc.constantFrom(1, 0.5, 1.7),
      u: random,
    })
    .map(({ values, picks, ...rest }) => ({
      ...rest,
      values,
      tokens: [...new Set(picks.map((i) => i % values.length))],
    }))

  it('an allowed token is drawn with its probability over theirs', () => {
    fc.assert(
      fc.property(masked, ({ values, tokens, temperature, u }) => {
        const { token, behaviourLogprob } = choose(
          values,
          { ...all, temperature },
          u,
          mask(...tokens, values.length - 1),
        )
        const allowed = [...new Set([...tokens, values.length - 1])]
        expect(allowed).toContain(token)
        const { plain } = graphRow(values, all)
        const highest = Math.max(...allowed.map((one) => plain[one]!))
        const weight = (one: number) => Math.exp((plain[one]! - highest) / temperature)
        const expected = weight(token) / allowed.reduce((sum, one) => sum + weight(one), 0)
        expect(Math.exp(behaviourLogprob)).toBeCloseTo(expected, 5)
      }),
    )
  })

  it('a mask of all tokens changes nothing', () => {
    fc.assert(
      fc.property(
        row,
        random,
        fc.constantFrom({}, { topK: 3 }, { topP: 0.8 }, { temperature: 0 }),
        (values, u, more) => {
          const params = { ...all, ...more }
          const whole = choose(values, params, u, mask(...values.keys()))
          const free = choose(values, params, u)
          if (whole.token !== free.token) return
          expect(whole.behaviourLogprob).toBeCloseTo(free.behaviourLogprob, 5)
          expect(whole.logprob).toBeCloseTo(free.logprob, 5)
        },
      ),
    )
  })
})

describe('a row of what is no number', () => {
  it.each([
    ['drawn from', all, null],
    ['greedy', { ...all, temperature: 0 }, null],
    ['truncated', { ...all, topK: 2, topP: 0.9 }, null],
    ['held to some tokens', all, Int32Array.of(0b0110)],
  ] as const)('is chosen from by nothing: %s', (_, params, allowed) => {
    const chooser = new TokenChooser(4)
    const row = new Float32Array(4).fill(Number.NaN)
    for (const [probabilities, correction] of [
      [row, 0],
      [Float32Array.of(1, 0, 0, 0), Number.NaN],
    ] as const) {
      expect(() => chooser.choose(probabilities, 0, correction, params, 0.5, allowed)).toThrow(
        expect.objectContaining({ code: 'model/non-finite-probabilities' }),
      )
    }
  })
})
