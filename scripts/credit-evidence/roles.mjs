/**
 * Three roles that need each other. A question has two parts, x and y, and one right answer of four; it is one of two that x
 * allows. The generator sees x alone, the verifier all but writes no answer, the refiner sees x, the answer and the verdict.
 * So the generator alone is right in half of the questions at best, and all three together in all. The outcome is told
 * wrongly one time in ten.
 *
 * An update plays 4 questions: each 27 times apart (81 turns), 13 times apart (39 turns), or as a tree of three tries of
 * each role (27 attempts of 39 turns), as MALT grows it.
 */
import { rng } from '../../dist/core/index.js'
import { grpo, leaveOneOut, roleCredit } from '../../dist/credit/index.js'
import { episode, groupOf, scored } from './episode.mjs'

const ANSWERS = [0, 1, 2, 3]
const QUESTIONS = ANSWERS.flatMap((x) => [0, 1].map((y) => ({ x, y, right: (x + y) % ANSWERS.length })))
const VERDICTS = ['right', 'wrong']
const WRONGLY = 0.1

const generator = ({ x }) =>
  ANSWERS.map((given) => ({ said: String(given), given, traits: [`generator ${x} ${given}`] }))
const verifier = ({ x, y }, given) =>
  VERDICTS.map((verdict) => ({ said: verdict, verdict, traits: [`verifier ${x} ${y} ${given} ${verdict}`] }))
const refiner = ({ x }, given, verdict) =>
  ANSWERS.map((final) => ({ said: String(final), final, traits: [`refiner ${x} ${given} ${verdict} ${final}`] }))

/** A hunch of what a verdict says and what follows from it, and none of the answers. */
const HUNCH = 0.5
const begin = [
  ...QUESTIONS.flatMap(({ x, y, right }) =>
    ANSWERS.map((given) => [`verifier ${x} ${y} ${given} ${given === right ? 'right' : 'wrong'}`, HUNCH]),
  ),
  ...ANSWERS.flatMap((x) =>
    ANSWERS.flatMap((given) => [
      [`refiner ${x} ${given} right ${given}`, HUNCH],
      [`refiner ${x} ${given} wrong ${given}`, -HUNCH],
    ]),
  ),
]

/** The chance that the last answer is right, of all questions alike: computed, not sampled. */
export function worth(policy) {
  let sum = 0
  for (const question of QUESTIONS) {
    const answers = policy.chances(generator(question))
    for (const given of ANSWERS) {
      const verdicts = policy.chances(verifier(question, given))
      for (const [v, verdict] of VERDICTS.entries()) {
        sum += answers[given] * verdicts[v] * policy.chances(refiner(question, given, verdict))[question.right]
      }
    }
  }
  return sum / QUESTIONS.length
}

/** A turn, with words of its own: what a language model says is hardly ever said twice. */
const turn = (policy, acts, draw) => ({ acts, chosen: policy.choose(acts, draw), wording: draw.int(1e9) })

/** All ways through a tree of `tries` of each role, each a list of turns; one way where each has one. */
export function ways(policy, question, tries, draw) {
  const several = (acts) => Array.from({ length: tries }, () => turn(policy, acts, draw))
  return several(generator(question)).flatMap((first) => {
    const { given } = first.acts[first.chosen]
    return several(verifier(question, given)).flatMap((second) => {
      const { verdict } = second.acts[second.chosen]
      return several(refiner(question, given, verdict)).map((third) => [first, second, third])
    })
  })
}

function attemptOf(question, turns, { id, group, alike, draw }) {
  const said = turns.map(({ acts, chosen, wording }) => `${acts[chosen].said}${alike ? '' : ` (${wording})`}`)
  const { final } = turns[2].acts[turns[2].chosen]
  const right = (final === question.right) !== draw.next() < WRONGLY
  const trajectory = episode({
    id,
    group,
    task: `${question.x}-${question.y}`,
    asked: `${question.x} ${question.y}`,
    turns: ['generator', 'verifier', 'refiner'].map((by, i) => ({ by, said: said[i], seen: said[i] })),
    state: { right },
  })
  return { trajectory, reward: scored(Number(right)), choices: turns }
}

/** What an update plays, and what it costs. */
function open({ tree, apart, alike }, seed) {
  const draw = rng('roles', seed)
  return (policy) => {
    const groups = Array.from({ length: 4 }, (_, g) => {
      const question = QUESTIONS[draw.int(QUESTIONS.length)]
      const played = tree
        ? ways(policy, question, 3, draw)
        : Array.from({ length: apart }, () => ways(policy, question, 1, draw)[0])
      const attempts = played.map((turns, a) =>
        attemptOf(question, turns, { id: `g${g}-${a}`, group: `g${g}`, alike, draw }),
      )
      return groupOf(`g${g}`, attempts)
    })
    return {
      groups,
      costs: { turns: tree ? 4 * (3 + 9 + 27) : 4 * apart * 3, attempts: 4 * groups[0].attempts.length },
    }
  }
}

const control = 'GRPO, 13 attempts apart'
export const roles = {
  name: 'roles',
  title: 'Generator, verifier and refiner',
  costs: ['turns', 'attempts'],
  begin,
  target: 0.8,
  worth,
  open,
  arms: [
    { name: control, rule: grpo(), apart: 13 },
    { name: 'leave one out, 13 attempts apart', rule: leaveOneOut(), apart: 13, control },
    { name: 'GRPO, 27 attempts apart', rule: grpo(), apart: 27, control },
    { name: 'GRPO over the tree', rule: grpo(), tree: true, control },
    { name: 'leave one out over the tree', rule: leaveOneOut(), tree: true, control },
    { name: 'role credit', rule: roleCredit(), tree: true, control },
    { name: 'role credit, `copies: sampled`', rule: roleCredit({ copies: 'sampled' }), tree: true, control },
    { name: 'role credit, equal answers worded alike', rule: roleCredit(), tree: true, alike: true, control },
    { name: 'role credit, `baseline: 0.5`', rule: roleCredit({ baseline: 0.5 }), tree: true, control },
  ],
}
