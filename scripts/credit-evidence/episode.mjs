import { DecisionId, GroupId, NodeId, TrajectoryId, VersionId } from '../../dist/core/index.js'

/** So many milliseconds is a minute. */
export const minute = 60_000

/**
 * A Trajectory of turns, each one Decision of one Parameter, as estimators read it.
 * @param turns each with `by` whom, what it `said`, what came back (`seen`), and how long that took in `minutes`, if it counts
 */
export function episode({ id, group, task, asked, turns, state = null, counts = {} }) {
  const nodes = []
  const add = (name, message, at) => {
    const timed = at === null ? {} : { at }
    nodes.push({ id: NodeId.parse(name), parent: nodes.at(-1)?.id ?? null, message, spans: [], ...timed })
    return nodes.at(-1).id
  }
  let clock = turns.some(({ minutes }) => minutes !== undefined) ? 0 : null
  add('o0', { role: 'user', content: asked }, clock)
  const [steps, decisions] = [[], []]
  for (const [i, { by, said, seen = '', minutes = 0 }] of turns.entries()) {
    const read = nodes.at(-1).id
    const action = add(`a${i}`, { role: 'assistant', content: said }, clock)
    if (clock !== null) clock += minutes * minute
    const observation = add(`o${i + 1}`, { role: 'user', content: seen }, clock)
    const decision = DecisionId.parse(`d${i}`)
    steps.push({ index: i, action, observations: [observation], decisions: [decision] })
    decisions.push(decisionOf({ id: decision, step: i, parameter: by, inputs: [read], output: action }))
  }
  const finalState = { state, counts }
  const ended = { stopReason: 'done', finalState, seconds: (clock ?? 0) / 1_000 }
  return trajectoryOf(
    { id, group, task: { id: task, instruction: asked, split: 'train' } },
    { nodes, steps, decisions },
    ended,
  )
}

/** A Decision of a policy that is no language model. */
export const decisionOf = (own) => ({
  ...own,
  kind: 'choice',
  version: VersionId.parse('v0'),
  generation: 1,
  checkpoint: null,
  propensity: { log: null, reason: 'not-recorded' },
})

/** The Trajectory of an attempt: whose it is, what was done, and how it ended. */
export const trajectoryOf = ({ id, group, task }, done, ended) => ({
  id: TrajectoryId.parse(id),
  origin: { kind: 'rollout' },
  task,
  group: GroupId.parse(group),
  attempt: 0,
  seed: 0,
  ...done,
  toolsets: {},
  failure: null,
  startedAt: 0,
  ...ended,
})

export const scored = (value) => ({ status: 'scored', value, parts: {} })
export const groupOf = (name, attempts) => ({ id: GroupId.parse(name), attempts })
