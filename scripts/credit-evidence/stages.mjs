/**
 * A job of four stages, each with one right option of four for each of three kinds. A right one passes at 0.95, a wrong one
 * at 0.2, and what does not pass ends the job. Success is to pass all four: two attempts of a hundred at the begin.
 *
 * What may be known beside success: how many stages were passed, as an instrumented environment counts them; a relative
 * judge of a group, whose model counts the stages in what it reads and errs (σ = 0.25); labels of steps, from people who err
 * one time in five, or from a step scorer that was fitted to 400 of their labels. Each has a control that knows nothing:
 * the same drawn by lot.
 */
import { rng } from '../../dist/core/index.js'
import { adca, anchorStates, groupJudged, grpo } from '../../dist/credit/index.js'
import { fitRewardModel, learnedStepJudge, milestones, rubric, ruler, verifier } from '../../dist/reward/index.js'
import { episode, groupOf } from './episode.mjs'
import { Policy } from './policy.mjs'

const KINDS = [0, 1, 2]
const OPTIONS = [0, 1, 2, 3]
const STAGES = ['load', 'prepare', 'train', 'submit']
const [PASSES, PASSES_WRONG] = [0.95, 0.2]
const rightAt = (kind, stage) => (kind + stage) % OPTIONS.length
const actsOf = (kind, stage) =>
  OPTIONS.map((option) => ({ option, said: `${STAGES[stage]} ${option}`, traits: [`${kind} ${stage} ${option}`] }))

/** The chance of success, of all kinds alike: computed, not sampled. */
export function worth(policy) {
  const passes = (kind, stage) => {
    const right = policy.chances(actsOf(kind, stage))[rightAt(kind, stage)]
    return right * PASSES + (1 - right) * PASSES_WRONG
  }
  const chance = (kind) => STAGES.reduce((product, _, stage) => product * passes(kind, stage), 1)
  return KINDS.reduce((sum, kind) => sum + chance(kind), 0) / KINDS.length
}

function job(policy, kind, { id, group, draw, byLot }) {
  const [choices, turns] = [[], []]
  let passed = 0
  for (const [stage] of STAGES.entries()) {
    const acts = actsOf(kind, stage)
    const chosen = policy.choose(acts, draw)
    const passes = draw.next() < (chosen === rightAt(kind, stage) ? PASSES : PASSES_WRONG)
    choices.push({ acts, chosen })
    turns.push({ by: 'engineer', said: acts[chosen].said, seen: `${STAGES[stage]} ${passes ? 'passed' : 'failed'}` })
    if (!passes) break
    passed++
  }
  const told = byLot ? draw.int(STAGES.length + 1) : passed
  const trajectory = episode({
    id,
    group,
    task: `kind-${kind}`,
    asked: `Data of kind ${kind}.`,
    turns,
    state: { done: passed === STAGES.length },
    counts: Object.fromEntries(STAGES.map((name, i) => [name, Number(i < told)])),
  })
  return { trajectory, choices }
}

const done = verifier(({ state }) => Number(state.done), 'done')
const outcome = rubric({ done })
const partly = rubric({ done: milestones(done, { milestones: STAGES.map((count) => ({ count })), most: 0.5 }) })

function open({ reward = outcome, byLot = false }, seed) {
  const draw = rng('stages', seed)
  return async (policy) => {
    const groups = []
    for (let g = 0; g < 4; g++) {
      const kind = draw.int(KINDS.length)
      const attempts = []
      for (let a = 0; a < 8; a++) {
        const one = job(policy, kind, { id: `g${g}-${a}`, group: `g${g}`, draw, byLot })
        attempts.push({ ...one, reward: await reward.score(one.trajectory, [], 0) })
      }
      groups.push(groupOf(`g${g}`, attempts))
    }
    return { groups, costs: { attempts: 32 } }
  }
}

const gauss = (draw) => Math.sqrt(-2 * Math.log(1 - draw.next())) * Math.cos(2 * Math.PI * draw.next())

/** A scripted model that reads what a relative judge is asked: it scores by the stages that it sees passed, or by lot. */
function reader(name, score) {
  const draw = rng('reader', name)
  return {
    name,
    ask: async ({ material }) => {
      const read = [...material.matchAll(/<attempt-(\d+)-[^>]*>\n(.*)\n/g)].map(([, attempt, record]) => ({
        attempt: Number(attempt),
        score: Math.min(1, Math.max(0, score(record, draw))),
      }))
      return { text: JSON.stringify(read), whole: true }
    },
  }
}
const counting = reader(
  'counting',
  (record, draw) => (record.match(/passed/g) ?? []).length / STAGES.length + 0.25 * gauss(draw),
)
const lots = reader('lots', (_, draw) => draw.next())
const beside = (model) => groupJudged({ judge: ruler({ model }), outcome: grpo(), weight: 0.5 })

/** What people say of a step: whether its option was right, one time in five the opposite. */
const kindOf = ({ task }) => Number(task.id.split('-')[1])
const chosenAt = ({ nodes, steps }, i) =>
  Number(nodes.find(({ id }) => id === steps[i].action).message.content.split(' ')[1])
const labelsBy = (name, isGood) => ({
  name,
  label: async (trajectory) => {
    const draw = rng(name, JSON.stringify(trajectory.nodes.map(({ message }) => message.content)))
    return trajectory.steps.map((_, i) => (isGood(trajectory, i, draw) ? 'good' : 'bad'))
  },
})
const isRight = (trajectory, i) => chosenAt(trajectory, i) === rightAt(kindOf(trajectory), i)
const people = labelsBy('people', (trajectory, i, draw) => isRight(trajectory, i) !== draw.next() < 0.2)
const lot = labelsBy('lot', (_, __, draw) => draw.next() < 0.5)

/** One number for each option of each stage of each kind. */
const features = {
  name: 'options of stages',
  of: async (trajectory, node) => {
    const i = trajectory.steps.findIndex(({ action }) => action === node)
    const at = (kindOf(trajectory) * STAGES.length + i) * OPTIONS.length + chosenAt(trajectory, i)
    return Array.from({ length: KINDS.length * STAGES.length * OPTIONS.length }, (_, f) => Number(f === at))
  },
}

/** A step scorer from 400 labels: 40 people say of ten steps each whether they were right. They see jobs of an early policy. */
async function scorer() {
  const draw = rng('labelled')
  const policy = new Policy([], 0)
  const examples = []
  for (let a = 0; examples.length < 400; a++) {
    const { trajectory } = job(policy, draw.int(KINDS.length), { id: `labelled-${a}`, group: 'labelled', draw })
    for (const [i, { action }] of trajectory.steps.entries()) {
      const accepted = isRight(trajectory, i) !== draw.next() < 0.2
      const subject = `person-${Math.floor(examples.length / 10)}`
      examples.push({ subject, features: await features.of(trajectory, action), accepted })
    }
  }
  const fitted = fitRewardModel(examples.slice(0, 400), { features: features.name })
  if (fitted.status !== 'fitted') throw new Error(`The step scorer was refused: ${fitted.reason}`)
  return learnedStepJudge(fitted.model, features)
}

const control = 'GRPO of the outcome'
export const stages = {
  name: 'stages',
  title: 'What is known beside a rare success',
  costs: ['attempts'],
  begin: [],
  target: 0.6,
  worth,
  open,
  arms: [
    { name: control, rule: grpo() },
    { name: 'GRPO with `milestones`', rule: grpo(), reward: partly, control },
    { name: 'GRPO with `milestones` by lot', rule: grpo(), reward: partly, byLot: true, control },
    { name: 'anchor states', rule: anchorStates(), control },
    { name: 'anchor states with `milestones`', rule: anchorStates(), reward: partly, control },
    { name: 'GRPO with `ruler`, which counts stages with noise', rule: beside(counting), control },
    { name: 'GRPO with `ruler`, which scores by lot', rule: beside(lots), control },
    { name: 'ADCA, labels of people', rule: adca({ labels: people }), control },
    { name: 'ADCA, a step scorer from labels of people', rule: adca({ labels: await scorer() }), control },
    { name: 'ADCA, labels by lot', rule: adca({ labels: lot }), control },
  ],
}
