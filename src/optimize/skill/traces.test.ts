import { expect, it } from 'vitest'
import type { SeenCall, SkillExperience } from '../../agent/index.ts'
import { TrajectoryId } from '../../core/index.ts'
import { newest, traceOf } from './traces.ts'

const call: SeenCall = { name: 'open', arguments: {}, content: 'x'.repeat(4_000), isError: false, run: null }
const lived = (about: string | null, n: number, calls = 2): SkillExperience => ({
  trajectory: TrajectoryId.parse(`t-${n}`),
  at: n,
  origin: 'traffic',
  owner: { tenant: 'acme', about },
  source: about ?? `session:t-${n}`,
  derivedFrom: [`t-${n}`],
  whole: true,
  advantage: null,
  earned: 1,
  range: [0, 1],
  cue: `Open order ${n}.`,
  model: null,
  skills: [],
  bare: false,
  uses: [],
  calls: Array.from({ length: calls }, () => call),
})
const worked = { signal: 1, example: 'worked' } as const

it('tells a person’s own sessions by what was asked, and those of a tenant by the person', () => {
  const sources = (share: 'subject' | 'tenant') => [1, 2].map((n) => traceOf(lived('ada', n), worked, share)?.source)
  expect(new Set(sources('subject')).size).toBe(2)
  expect(new Set(sources('tenant')).size).toBe(1)
})

it('gives no room of others to what one owner has too many of', () => {
  const traces = [lived('bob', 0), ...Array.from({ length: 300 }, (_, i) => lived('ada', i + 1, 8))]
  const kept = newest(traces.flatMap((one) => traceOf(one, worked, 'subject') ?? []))
  expect(kept.filter(({ owner }) => owner.about === 'bob')).toHaveLength(1)
})
