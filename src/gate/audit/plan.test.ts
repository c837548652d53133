import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { planAudit } from './plan.ts'
import { type AuditObservation, truthAbove } from './truth-test.ts'

/** Another law than the plan's own: graded truth, and behaviour that is it with noise. */
function* graded(name: string, labels: number): Generator<AuditObservation> {
  const stream = rng('plan-test', name)
  for (let drawnSoFar = 0; drawnSoFar < labels; ) {
    const candidate = stream.next() < 0.5
    const truth = stream.next() < 0.5 + (candidate ? 0.2 : 0) ? 1 : 0
    const drawn = stream.next() < 0.25
    if (drawn) drawnSoFar++
    yield {
      candidate,
      propensity: 0.5,
      probability: 0.25,
      drawn,
      truth,
      features: [0.5 * truth + 0.5 * stream.next()],
    }
  }
}

describe('the plan of an audit', () => {
  it('says how many labels show a gain as often as was asked', () => {
    const { labels } = planAudit({ effect: 0.2, share: 0.5, power: 0.8 })
    expect(labels).not.toBeNull()
    // The same test on other draws, with so many labels and no more: 100 of 0.8 lie in [66, 92] but once in a thousand.
    const fresh = { effect: 0.2, share: 0.5, power: 0.8, seed: 1 }
    const shown = planAudit({ ...fresh, power: 0.5 })
    expect(shown.labels).toBeLessThan(labels ?? 0)
    expect(planAudit(fresh).labels).toBeGreaterThan(0.75 * (labels ?? 0))
    expect(planAudit(fresh).labels).toBeLessThan(1.33 * (labels ?? 0))
  })

  it('says that a judge which tells something needs fewer labels, and asks it about all that are labelled', () => {
    const asked = { effect: 0.3, share: 0.1 }
    const how = { lives: 60 }
    const [alone, judged] = [planAudit(asked, how), planAudit({ ...asked, judge: 0.9, judged: 0.5 }, how)]
    expect(judged.labels).toBeLessThan(0.8 * (alone.labels ?? 0))
    expect(() => planAudit({ ...asked, judge: 0.9, judged: 0.05 })).toThrow('at least share')
  })

  it('holds for behaviour of another kind: it needs no more than planned for its correlation', () => {
    // The correlation of that behaviour with the truth is 0.5 / √(0.25 + 0.25 / 3) = 0.866.
    const { labels } = planAudit({ effect: 0.2, share: 0.25, correlation: 0.86, power: 0.8 })
    const shown = Array.from({ length: 60 }, (_, i) =>
      truthAbove(graded(`${i}`, Math.round(1.15 * (labels ?? 0))), 0, -Math.log(0.05)),
    ).filter(({ shownAfter }) => shownAfter !== null)
    expect(shown.length).toBeGreaterThan(36)
  })

  it('asks for fewer labels where behaviour tells more, and for more where the effect is smaller', {
    timeout: 120_000,
  }, () => {
    const plan = (change: object) => planAudit({ effect: 0.2, share: 0.1, ...change }).labels ?? Infinity
    expect(plan({ correlation: 0.8 })).toBeLessThan(0.7 * plan({}))
    expect(plan({ effect: 0.1 })).toBeGreaterThan(2.5 * plan({}))
  })

  it('says that it does not know what was not shown in all that it tried', () => {
    expect(planAudit({ effect: 0.001, share: 0.05 }, { lives: 20, mostSessions: 2_000 })).toEqual({
      median: null,
      labels: null,
      sessions: null,
      tried: 100,
    })
  })
})
