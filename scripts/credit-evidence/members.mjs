/**
 * A team of five members, of which one or two cause the outcome. Each sees a cue of its own, one of four, and chooses among
 * four options, of which one is right for it. A task is of one of ten kinds: five where one member matters, five where two
 * do; nobody sees which. A member that takes no part is wrong. In `all` a task succeeds where all who matter are right, in
 * `parts` it earns the share of them that is. The outcome is told wrongly one time in ten.
 *
 * Attempts that some take no part in need no new call of the policy where the others do the same again: so both attempts and
 * calls are counted.
 */
import { rng } from '../../dist/core/index.js'
import { grpo, leaveOneOut, team } from '../../dist/credit/index.js'
import { episode, groupOf, scored } from './episode.mjs'

const MEMBERS = [0, 1, 2, 3, 4]
const OPTIONS = [0, 1, 2, 3]
const KINDS = MEMBERS.flatMap((member) => [[member], [member, (member + 1) % MEMBERS.length]])
const WRONGLY = 0.1
const ALL = MEMBERS
const ONE_LEFT_OUT = MEMBERS.map((out) => MEMBERS.filter((member) => member !== out))
const EVERY = Array.from({ length: 2 ** MEMBERS.length }, (_, mask) =>
  MEMBERS.filter((member) => Math.floor(mask / 2 ** member) % 2 === 1),
)

const isRight = (member, cue, option) => option === (cue + member) % OPTIONS.length
const actsOf = (member, cue) => OPTIONS.map((option) => ({ option, traits: [`${member} ${cue} ${option}`] }))

const earnings = {
  all: (rights) => Number(rights.every((right) => right === 1)),
  parts: (rights) => rights.reduce((sum, right) => sum + right, 0) / rights.length,
}

/** What a policy earns in the mean of all kinds and cues, if the outcome is told truly: computed, not sampled. */
export function worth(policy, { outcome }) {
  const chance = MEMBERS.map((member) => {
    const each = OPTIONS.map((cue) => policy.chances(actsOf(member, cue))[(cue + member) % OPTIONS.length])
    return each.reduce((sum, one) => sum + one, 0) / each.length
  })
  const of = {
    all: (kind) => kind.reduce((product, member) => product * chance[member], 1),
    parts: (kind) => kind.reduce((sum, member) => sum + chance[member], 0) / kind.length,
  }[outcome]
  return KINDS.reduce((sum, kind) => sum + of(kind), 0) / KINDS.length
}

/** What each member does at a task, drawn once. */
export const deedsOf = (policy, cues, draw) =>
  MEMBERS.map((member) => {
    const acts = actsOf(member, cues[member])
    return { acts, chosen: policy.choose(acts, draw) }
  })

/** What a coalition earns with what its members do, before it is told. */
export function earned({ kind, cues, outcome }, deeds, coalition) {
  const right = (member) =>
    Number(coalition.includes(member) && isRight(member, cues[member], deeds[member].acts[deeds[member].chosen].option))
  return earnings[outcome](kind.map(right))
}

function attemptOf(task, deeds, coalition, { id, group, draw }) {
  const truth = earned(task, deeds, coalition)
  const value = draw.next() < WRONGLY ? 1 - truth : truth
  const turns = coalition.map((member) => ({
    by: `member-${member}`,
    said: String(deeds[member].acts[deeds[member].chosen].option),
  }))
  const trajectory = episode({
    id,
    group,
    task: group,
    asked: task.cues.join(' '),
    turns,
    state: { value },
  })
  return { trajectory, reward: scored(value), choices: coalition.map((member) => deeds[member]) }
}

function open({ outcome, tasks, coalitions, forked }, seed) {
  const draw = rng('members', seed)
  return (policy) => {
    const groups = Array.from({ length: tasks }, (_, g) => {
      const task = {
        kind: KINDS[draw.int(KINDS.length)],
        cues: MEMBERS.map(() => draw.int(OPTIONS.length)),
        outcome,
      }
      const once = deedsOf(policy, task.cues, draw)
      const attempts = coalitions.map((coalition, a) =>
        attemptOf(task, forked ? once : deedsOf(policy, task.cues, draw), coalition, {
          id: `g${g}-${a}`,
          group: `g${g}`,
          draw,
        }),
      )
      return groupOf(`g${g}`, attempts)
    })
    // Who does the same again is not asked again.
    const asked = forked ? MEMBERS.length : coalitions.reduce((sum, { length }) => sum + length, 0)
    return { groups, costs: { attempts: tasks * coalitions.length, calls: tasks * asked } }
  }
}

const six = { tasks: 4, coalitions: Array.from({ length: 6 }, () => ALL), forked: false }
const difference = { rule: team(), tasks: 4, coalitions: [ALL, ...ONE_LEFT_OUT], forked: true }
const control = 'GRPO'
const armsOf = (outcome) =>
  [
    { name: control, rule: grpo(), ...six },
    { name: 'leave one out', rule: leaveOneOut(), ...six, control },
    { name: 'difference, the others do the same', ...difference, control },
    {
      name: 'difference, the others drawn anew',
      rule: team(),
      tasks: 2,
      coalitions: [...Array.from({ length: 7 }, () => ALL), ...ONE_LEFT_OUT],
      forked: false,
      control,
    },
    {
      name: 'Shapley values, all 32 coalitions',
      rule: team({ share: 'shapley', nobody: 0 }),
      tasks: 1,
      coalitions: EVERY,
      forked: true,
      control,
    },
  ].map((arm) => ({ ...arm, outcome }))

const world = { most: 600, costs: ['attempts', 'calls'], begin: [], target: 0.8, worth, open }
export const members = [
  { ...world, name: 'team', title: 'A team: all who matter must be right', arms: armsOf('all') },
  { ...world, name: 'team', title: 'A team: parts add up', arms: armsOf('parts') },
]
