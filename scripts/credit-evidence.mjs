/**
 * Episodes that every step-credit rule needs to the same success, against plain GRPO: a small softmax policy learns the long
 * tasks of a house (`environment/house`: 9 to 14 calls where the right ones are known, 40 allowed) by policy gradient, from
 * real Trajectories credited by the real estimators. Prints progress and, at the end, Markdown.
 *
 *     npx tsc -b && node scripts/credit-evidence.mjs
 *
 * A preference is kept for each trait of an act: one says what matters of it (about 60 classes, by what the instruction says
 * and what was seen), three are names that tell nothing, so that there is something to be misled by. The policy begins with a
 * fifth of an expert's log-odds and succeeds in a few of a hundred attempts. An update is 8 attempts at each of 4 new tasks.
 * Success is reached when the mean of three updates in a row is at least `--target`; a run that is not there after `--most`
 * updates counts as if it were. Adam takes the steps (Kingma & Ba 2015), so how large a rule's credits are makes no
 * difference; every rule has the rate that it does best with on `--tuning` seeds from 1000 on, which are no evidence. Ratios
 * are of episodes, paired by seed (equal tasks), as geometric means with 95 % bootstrap intervals over seeds.
 */
import { parseArgs } from 'node:util'
import { DecisionId, GroupId, NodeId, rng, Trajectory } from '../dist/core/index.js'
import {
  adca,
  anchorStates,
  batchZScore,
  bounded,
  discountedReturn,
  gae,
  grpo,
  leaveOneOut,
  maxRl,
  risingDiscount,
  shownBefore,
  toolErrorLabels,
} from '../dist/credit/index.js'
import { houseExpert, houseProgress, houseVerify, loadHouse } from '../dist/environment/index.js'
import { readRoom } from '../dist/environment/house/views.js'
import { median, ratio, tuned } from './credit-evidence/compare.mjs'
import { decisionOf, trajectoryOf } from './credit-evidence/episode.mjs'
import { gradientOf, Policy } from './credit-evidence/policy.mjs'

const { values: flags } = parseArgs({
  options: {
    seeds: { type: 'string', default: '12' },
    tuning: { type: 'string', default: '3' },
    rates: { type: 'string', default: '0.1,0.2,0.4,0.8' },
    /** Updates at most. */
    most: { type: 'string', default: '100' },
    target: { type: 'string', default: '0.8' },
    /** Names of the rules to run; all where it is empty. */
    arms: { type: 'string', default: '' },
  },
})
const [SEEDS, TUNING, MOST, TARGET] = [flags.seeds, flags.tuning, flags.most, flags.target].map(Number)
const RATES = flags.rates.split(',').map(Number)
const [GROUPS, ATTEMPTS, STEPS, PRIME] = [4, 8, 40, 0.2]
const began = Date.now()
const say = (text) => console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`)

const { environment, tasks } = loadHouse({ seed: 11, tasks: { train: 1000, validation: 0, holdout: 0 } })
const stream = tasks.train.filter(({ tier }) => tier === 'long')

/** A judge that knows how far the task is, and errs at one label in five. */
const judge = {
  name: 'progress, 20 % wrong',
  label({ id, steps }) {
    const draw = rng('judge', id)
    return steps.map((_, i) => {
      const moved = progressOf.get(id)?.[i] ?? 0
      const wrong = draw.next() < 0.2
      return moved === 0 ? null : moved > 0 !== wrong ? 'good' : 'bad'
    })
  },
}
/** Changes of progress at each step of an episode: what an instrumented environment would say of it. */
const progressOf = new Map()

const buckets = 24
const features = (trajectory) =>
  shownBefore(trajectory).map((shown) => {
    const row = Array.from({ length: buckets }, () => 0)
    row[rng('bucket', shown).int(buckets)] = 1
    return row
  })

/** `dense` where steps carry rewards, or the outcome holds them: more is known then, and the control is GRPO that knows it too. */
const arms = [
  { name: 'GRPO', rule: grpo() },
  { name: 'leave one out', rule: leaveOneOut() },
  { name: 'MaxRL', rule: maxRl() },
  { name: 'batch z-score', rule: batchZScore() },
  { name: 'discounted return', rule: discountedReturn() },
  { name: 'GAE', rule: gae({ features }) },
  { name: 'anchor states', rule: anchorStates() },
  { name: 'GRPO, bounded by anchor states', rule: bounded({ outcome: grpo(), by: anchorStates() }) },
  { name: 'ADCA, rule: tool errors', rule: adca({ labels: toolErrorLabels() }) },
  { name: 'ADCA, judge of progress, 20 % wrong', rule: adca({ labels: judge }), judged: true },
  { name: 'GRPO of outcome + progress', rule: grpo(), dense: 'outcome' },
  { name: 'discounted return of steps', rule: discountedReturn(), dense: 'steps' },
  { name: 'rising discount of steps', rule: risingDiscount(), dense: 'steps' },
  { name: 'GAE of steps', rule: gae({ features }), dense: 'steps' },
  { name: 'anchor states of steps', rule: anchorStates(), dense: 'steps' },
].filter(({ name }) => flags.arms === '' || flags.arms.split(';').includes(name))

const roomOf = (place) => place.split('/')[0]

/** What can be tried where the agent is, each act with its class: what of it matters, and in what situation. */
function situation(episode, { request, held, visited, placed }) {
  const look = episode.fork().step({ kind: 'calls', calls: [{ name: 'look', arguments: {} }] }).messages[0].content
  const room = readRoom(look)
  const { item: wanted, from, to } = request
  visited.add(room.name)
  const phase = placed ? 'placed' : held.has(wanted) ? 'has it' : 'seeks'
  const aim = phase === 'seeks' ? from : to
  const acts = [['done', '', phase]]
  for (const [name, { locked, beyond }] of room.exits) {
    const toward = aim === null ? 'anywhere' : [name, beyond].includes(roomOf(aim)) ? 'there' : 'elsewhere'
    const was = visited.has(name) ? 'seen' : 'new'
    const here = aim !== null && roomOf(aim) === room.name ? 'arrived' : 'away'
    if (locked === null) acts.push(['go', name, `${phase} ${toward} ${was} ${here}`])
    else acts.push(['unlock', name, held.has(`${locked} key`) ? 'key' : 'no key'])
  }
  for (const [name, { state, locked }] of room.containers) {
    const aimed = aim !== null && aim === `${room.name}/${name}` ? 'aimed' : 'other'
    if (state === 'locked') acts.push(['unlock', name, held.has(`${locked} key`) ? 'key' : 'no key'])
    else if (state === 'closed') acts.push(['open', name, `${phase} ${aimed}`])
  }
  for (const item of [...room.lying, ...[...room.containers.values()].flatMap(({ holds }) => holds)]) {
    acts.push(['take', item, `${phase} ${item === wanted ? 'wanted' : item.endsWith(' key') ? 'key' : 'other'}`])
  }
  for (const item of held) {
    const which = item === wanted ? 'wanted' : item.endsWith(' key') ? 'key' : 'other'
    const put = (name, place) =>
      acts.push(['put', `${item} in ${name}`, `${which} ${place === to ? 'aimed' : 'other'}`])
    put(room.name, room.name)
    for (const [name, { state }] of room.containers) if (state === 'open') put(name, `${room.name}/${name}`)
  }
  return {
    shown: `${look}\nheld ${[...held]
      .map(String)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .join(', ')}`,
    acts: acts.map(([tool, text, matters]) => ({
      tool,
      text,
      type: `${tool} ${matters}`,
      // What tells nothing, and is seen all the same: the names of things, and the room.
      traits: [
        `${tool} ${matters}`,
        `${tool} ${text}`,
        `${tool} ${phase} in ${room.name}`,
        `${matters} in ${room.name}`,
      ],
    })),
  }
}

/** What the policy knows of what it did. */
function remember(mind, { tool, text, type }) {
  const [item] = text.split(' in ')
  if (tool === 'take') mind.held.add(item)
  if (tool === 'put') mind.held.delete(item)
  if (item === mind.request.item && (tool === 'take' || tool === 'put'))
    mind.placed = tool === 'put' && type.endsWith('aimed')
}

const argument = { go: 'room', take: 'item', open: 'container', unlock: 'lock', put: 'words' }

/** An episode at its begin, for each task: to fork it is cheaper than to open it. */
const openings = new Map()
function opened(task) {
  const opening = openings.get(task.id) ?? environment.open(task, 0)
  openings.set(task.id, opening)
  return opening.fork()
}

/** One attempt, as a Trajectory, with what the policy could choose among and chose. */
function attempt(task, policy, { id, group, dense, watched, draw }) {
  const episode = opened(task)
  const mind = { request: task.data.request, held: new Set(), visited: new Set(), placed: false }
  const [nodes, steps, decisions, choices, moves] = [[], [], [], [], []]
  const add = (name, message) => {
    nodes.push({ id: NodeId.parse(name), parent: nodes.at(-1)?.id ?? null, message, spans: [] })
    return nodes.at(-1).id
  }
  let now = situation(episode, mind)
  let before = watched ? houseProgress(episode.close()) : 0
  add('o0', { role: 'user', content: now.shown })
  for (let i = 0; i < STEPS; i++) {
    const chosen = policy.choose(now.acts, draw)
    choices.push({ acts: now.acts, chosen })
    const { tool, text } = now.acts[chosen]
    const call = { name: tool, arguments: tool === 'done' ? {} : { [argument[tool]]: text } }
    const { messages, done } = episode.step({ kind: 'calls', calls: [call] })
    const isError = messages[0].isError === true
    if (!isError) remember(mind, now.acts[chosen])
    now = done ? { shown: 'done', acts: [] } : situation(episode, mind)
    // To go somewhere is no progress yet.
    const after = watched && tool !== 'go' ? houseProgress(episode.close()) : before
    moves.push(after - before)
    before = after
    const read = nodes.at(-1).id
    const action = add(`a${i}`, { role: 'assistant', content: '', toolCalls: [call] })
    const observation = add(`o${i + 1}`, { role: 'tool', name: tool, content: now.shown, isError })
    const decision = DecisionId.parse(`d${i}`)
    decisions.push(decisionOf({ id: decision, step: i, parameter: 'policy', inputs: [read], output: action }))
    const reward = dense === 'steps' ? { reward: moves[i] } : {}
    steps.push({ index: i, action, observations: [observation], decisions: [decision], ...reward })
    if (done) break
  }
  const finalState = episode.close()
  const success = houseVerify(finalState)
  const stopReason = steps.length < STEPS ? 'done' : 'turn-budget'
  const { id: name, instruction, split } = task
  const trajectory = trajectoryOf(
    { id, group, task: { id: name, instruction, split } },
    { nodes, steps, decisions },
    { stopReason, finalState, seconds: 0 },
  )
  progressOf.set(trajectory.id, moves)
  const value = dense === 'outcome' ? success + moves.reduce((sum, move) => sum + move, 0) : success
  return { trajectory, reward: { status: 'scored', value, parts: {} }, choices, success }
}

/** Log-odds of what the expert does among what it could do, class by class, over a few tasks. */
async function expertOdds(shown) {
  const [taken, open] = [new Map(), new Map()]
  for (const task of shown) {
    const episode = environment.open(task, 0)
    const mind = { request: task.data.request, held: new Set(), visited: new Set(), placed: false }
    const step = (action) => {
      const { name, arguments: given } = action.calls[0]
      const [text = ''] = Object.values(given)
      const { acts } = situation(episode, mind)
      const chosen = acts.find((act) => act.tool === name && act.text === text)
      if (chosen) {
        for (const { type } of acts) open.set(type, (open.get(type) ?? 0) + 1)
        taken.set(chosen.type, (taken.get(chosen.type) ?? 0) + 1)
      }
      const outcome = episode.step(action)
      if (!outcome.messages[0].isError) remember(mind, { tool: name, text, type: chosen?.type ?? '' })
      return outcome
    }
    await houseExpert({ opening: episode.opening, tools: episode.tools, step, close: () => episode.close() }, task)
  }
  return [...open].map(([type, count]) => {
    const p = ((taken.get(type) ?? 0) + 0.5) / (count + 1)
    return [type, PRIME * Math.log(p / (1 - p))]
  })
}
const primed = await expertOdds(stream.slice(0, 16))

/** Updates until success, or `MOST`. */
async function learn(arm, seed, rate) {
  const policy = new Policy(primed, rate)
  const order = rng('tasks', seed).shuffle(stream)
  const rates = []
  for (let update = 1; update <= MOST; update++) {
    progressOf.clear()
    const played = Array.from({ length: GROUPS }, (_, g) => {
      const task = order[(update * GROUPS + g) % order.length]
      return Array.from({ length: ATTEMPTS }, (__, a) =>
        attempt(task, policy, {
          id: `t${g}-${a}`,
          group: `g${g}`,
          dense: arm.dense,
          watched: arm.dense !== undefined || arm.judged === true,
          draw: rng('credit', seed, update, g, a),
        }),
      )
    })
    if (update === 1 && seed === 0) Trajectory.parse(played[0][0].trajectory)
    const all = played.flat()
    rates.push(all.filter(({ success }) => success === 1).length / all.length)
    const latest = rates.slice(-3)
    if (latest.length === 3 && latest.reduce((sum, one) => sum + one, 0) / 3 >= TARGET)
      return { updates: update, there: true }
    const groups = played.map((attempts, g) => ({ id: GroupId.parse(`g${g}`), attempts }))
    const { credits } = await arm.rule.credit(groups, { signals: new Map(), rng: rng('context'), asOf: 0 })
    policy.step(gradientOf(policy, all, credits))
  }
  return { updates: MOST, there: false, last: rates.slice(-3) }
}

const updatesOf = ({ updates }) => updates
const results = []
for (const arm of arms) {
  const result = await tuned(learn, arm, { rates: RATES, tuning: TUNING, seeds: SEEDS, cost: updatesOf })
  const { rate, runs } = result
  results.push(result)
  const there = runs.filter((run) => run.there).length
  say(`${arm.name}: rate ${rate}, ${there}/${runs.length} there, updates ${runs.map(updatesOf).join(',')}`)
}

const named = (name) => results.find((result) => result.name === name)
console.log('| rule | rate | there | median episodes | episodes against GRPO | against GRPO that knows as much |')
console.log('|---|---|---|---|---|---|')
for (const result of results) {
  const { name, rate, runs, dense } = result
  const against = (other) => (!other ? '' : other === result ? '1' : ratio(runs, other.runs, updatesOf))
  const there = `${runs.filter((run) => run.there).length} of ${runs.length}`
  const episodes = median(runs.map(updatesOf)) * GROUPS * ATTEMPTS
  const informed = dense ? against(named('GRPO of outcome + progress')) : ''
  console.log(`| ${name} | ${rate} | ${there} | ${episodes} | ${against(named('GRPO'))} | ${informed} |`)
}
