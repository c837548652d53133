import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import { NodeId, type Trajectory } from '../../core/index.ts'
import { graphText } from './graph.ts'

const said = (id: string, content: string, parent: string) => ({
  id,
  parent,
  message: { role: 'assistant', content } as const,
})
const asked = (id: string, content: string) => ({ id, message: { role: 'user', content } as const })

/** Two sides of one plan, joined; and one that nobody used. */
const diamond = (plan: string): Trajectory => ({
  ...trajectoryOf({
    nodes: [
      asked('q0', 'plan it'),
      said('plan', plan, 'q0'),
      ...['peel', 'stone', 'sing'].flatMap((what) => [asked(`q-${what}`, what), said(what, `${what}ed`, `q-${what}`)]),
      asked('q1', 'join'),
      said('jam', 'jam', 'q1'),
    ],
    decisions: [
      { inputs: ['q0'], output: 'plan' },
      ...['peel', 'stone', 'sing'].map((what) => ({ inputs: [`q-${what}`, { decision: 'd0' }], output: what })),
      { inputs: ['q1', { decision: 'd1' }, { decision: 'd2' }], output: 'jam' },
    ],
  }),
  outcome: { inputs: [NodeId.parse('jam')] },
})

it('goes from the outcome back, indents what was read together, and tells what was not used', () => {
  expect(stripVTControlCharacters(graphText(diamond('two steps')))).toBe(`outcome of trajectory t0
The outcome was built from 4 of 5 decisions.

#5 model  jam
  read user: join
├─ #2 model  peeled
│    read user: peel
│  #1 model  two steps
│    read user: plan it
└─ #3 model  stoneed
     read user: stone
   #1 again

not used

#4 model  singed
  read user: sing
#1 again
`)
})

it('has no line of more than 80 columns, and nothing that moves the cursor', () => {
  const text = stripVTControlCharacters(graphText(diamond(`\u001b[2J\u202e${'long and hostile '.repeat(50)}`)))
  expect(text).not.toContain('\u001b')
  expect(text).not.toContain('\u202e')
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
})

it('of thousands of decisions takes no stack, and a hundred branches deep stays narrow', () => {
  const deep = Array.from({ length: 5_000 }, (_, i) => ({
    inputs: i === 0 ? [] : [{ decision: `d${i - 1}` }, ...(i > 1 ? [{ decision: `d${i - 2}` }] : [])],
  }))
  const text = stripVTControlCharacters(graphText(trajectoryOf({ nodes: [], decisions: deep })))
  expect(text.split('\n').length).toBeGreaterThan(5_000)
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
})
