import { expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import { DecisionId, type Message, NodeId, type Trajectory, VersionId } from '../../core/index.ts'
import { experiences } from './experience.ts'

const node = (id: string, parent: string | null, message: Message) => ({
  id: NodeId.parse(id),
  parent: parent === null ? null : NodeId.parse(parent),
  message,
  spans: [],
  at: 0,
})
const step = (index: number, action: string) => ({
  index,
  action: NodeId.parse(action),
  observations: [],
  decisions: [],
})

it('pairs what was asked with what was done about it at last, whatever else the session was about', () => {
  const trajectory: Trajectory = {
    ...trajectoryOf({}),
    nodes: [
      node('q1', null, { role: 'user', content: 'My kettle is broken.' }),
      node('a0', 'q1', { role: 'assistant', content: 'What kettle?' }),
      node('a1', 'q1', { role: 'assistant', content: 'Send it in.' }),
      node('more', 'a1', { role: 'user', content: 'Where?' }),
      node('a2', 'more', { role: 'assistant', content: 'Birch Street.' }),
      node('title', null, { role: 'user', content: 'Give this a title.' }),
      node('a3', 'title', { role: 'assistant', content: 'Kettle' }),
    ],
    steps: [step(0, 'a0'), step(1, 'a1'), step(2, 'a2'), step(3, 'a3')],
  }
  const recalled = (index: number, query: string) => ({
    decision: {
      id: DecisionId.parse(`d${index}`),
      step: index,
      parameter: 'memory',
      kind: 'memory',
      version: VersionId.parse('v'.repeat(64)),
      generation: 1,
      checkpoint: null,
      inputs: [],
      output: null,
      propensity: { log: null, reason: 'deterministic' as const },
    },
    made: { did: 'recall' as const, query, items: [], explore: 0 },
    credit: { trajectory: trajectory.id, decision: DecisionId.parse(`d${index}`), advantage: 1, utility: 1 },
  })
  const decided = [recalled(0, 'My kettle is broken.'), recalled(3, 'Give this a title.')]
  expect(experiences(decided, trajectory)).toMatchObject([
    { cue: 'My kettle is broken.', done: 'Send it in.\nBirch Street.' },
  ])
})
