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
    decisions.push({
      id: decision,
      step: i,
      parameter: by,
      kind: 'choice',
      version: VersionId.parse('v0'),
      generation: 1,
      checkpoint: null,
      inputs: [read],
      output: action,
      propensity: { log: null, reason: 'not-recorded' },
    })
  }
  return {
    id: TrajectoryId.parse(id),
    origin: { kind: 'rollout' },
    task: { id: task, instruction: asked, split: 'train' },
    group: GroupId.parse(group),
    attempt: 0,
    seed: 0,
    nodes,
    steps,
    decisions,
    toolsets: {},
    stopReason: 'done',
    failure: null,
    finalState: { state, counts },
    startedAt: 0,
    seconds: (clock ?? 0) / 1_000,
  }
}

export const scored = (value) => ({ status: 'scored', value, parts: {} })
export const groupOf = (name, attempts) => ({ id: GroupId.parse(name), attempts })
