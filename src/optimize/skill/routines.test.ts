import { expect, it } from 'vitest'
import type { SeenCall } from '../../agent/index.ts'
import { routinesIn } from './routines.ts'
import type { Trace } from './traces.ts'

const call = (name: string, change: Partial<SeenCall> = {}): SeenCall => ({
  name,
  arguments: {},
  content: 'ok',
  isError: false,
  run: null,
  ...change,
})
const trace = (n: number, calls: readonly (string | SeenCall)[]): Trace => ({
  trajectory: `t-${n}`,
  at: n,
  source: `task:${n}`,
  cue: 'do it',
  derivedFrom: [`t-${n}`],
  model: null,
  calls: calls.map((one) => (typeof one === 'string' ? call(one) : one)),
  owner: { tenant: null, about: null },
})
const of = (each: readonly (string | SeenCall)[], count = 3) => Array.from({ length: count }, (_, n) => trace(n, each))
const namesIn = (traces: readonly Trace[], fewest = 3) => routinesIn(traces, fewest).map(({ names }) => names.join(' '))

it('finds what several tasks share, and leaves out its parts', () => {
  expect(namesIn(of(['a', 'b', 'c']))).toEqual(['a b c'])
})

it('keeps a part that twice as many tasks have', () => {
  const others = Array.from({ length: 3 }, (_, n) => trace(10 + n, ['a', 'b', 'z' + String(n)]))
  expect(namesIn([...of(['a', 'b', 'c']), ...others])).toEqual(['a b', 'a b c'].toSorted((x, y) => y.length - x.length))
})

it('counts tasks, and not how often one was done', () => {
  expect(namesIn(of(['a', 'b']).map((one) => ({ ...one, source: 'task:1' })))).toEqual([])
})

it.each([
  ['failed', call('b', { isError: true })],
  ['was too large to keep', call('b', { content: null })],
  ['had arguments too large to keep', call('b', { arguments: null })],
])('goes over no call that %s', (_, broken) => {
  expect(namesIn(of(['a', broken, 'c', 'd']))).toEqual(['c d'])
})

it('takes what one run of a skill called for no evidence of another', () => {
  expect(namesIn(of([call('a', { run: 0 }), call('b', { run: 0 })]))).toEqual([])
  expect(namesIn(of([call('a', { run: 0 }), call('b', { run: 0 }), 'c']))).toContain('a b c')
})
