/**
 * Skills on the order desk: what the tools say decides which act is right, so that a whole routine learned by heart does harm,
 * and only looking things up is the same for all. Who works there is a program, and errs.
 */
import { defineAgent, parameter, skills } from '../../dist/agent/index.js'
import { actBy, ruleFor } from '../../dist/environment/desk/rules.js'
import { deskVerify, loadDesk } from '../../dist/environment/index.js'
import { rollouts } from '../../dist/learn/index.js'
import { induce } from '../../dist/optimize/skill/index.js'
import { rubric, verifier } from '../../dist/reward/index.js'
import { dice } from './dice.mjs'
import { compare } from './intervals.mjs'
import { learnsNothing } from './learns-nothing.mjs'
import { lesson } from './lesson.mjs'

const schedule = { updates: 14, tasks: 24, attempts: 4, validateEvery: 7, patience: null }

/** How good the worker is, what it takes up, and how many acts it has time for. */
const worker = { right: 0.65, takesUp: 0.9, acts: 6 }

/** What to call next, by all lines that were read so far. */
function next({ kind, names }, lines, acted) {
  const fact = (key) => lines.findLast((line) => line.startsWith(`${key} `))?.slice(key.length + 1)
  const id = names.order ?? fact(names.item)
  if (acted) return ['done', {}]
  if (id === undefined) return ['customer', { name: names.customer }]
  if (!fact('status')) return ['order', { id }]
  if (!fact('value')) return ['item', { name: fact('item') }]
  const order = { item: fact('item'), status: fact('status'), colour: fact('colour'), cover: fact('cover') }
  const packed = fact('packed') ?? null
  return [actBy[ruleFor(kind, { ...order, packed }, { value: fact('value'), stock: fact('stock') })], { id }]
}

const lookUps = new Set(['customer', 'order', 'item'])

/**
 * A program without any model. It takes up the first skill on offer that it can give what it needs, once, and reads what that
 * told; else it makes the next right call by a chance, and a wrong one otherwise.
 */
const deskWorker = (requests) =>
  defineAgent({
    name: 'desk-worker',
    parameters: { tools: skills(), dice: parameter(dice, null) },
    async run({ id, instruction }, { tools, dice: chance }, episode) {
      const equipped = await tools.equip(episode, instruction)
      const request = requests.get(id)
      const { names } = request
      const known = names.order ? { id: names.order } : { name: names.customer }
      const skill = equipped.tools
        .slice(episode.tools.length)
        .find(({ parameters }) => (parameters.required ?? []).every((key) => key in known))
      const lines = []
      let [tried, acted] = [false, false]
      for (let act = 0; act < worker.acts; act++) {
        const takesUp = skill && !tried && chance.below(worker.takesUp)
        const [name, given] = takesUp
          ? [skill.name, known]
          : chance.below(worker.right)
            ? next(request, lines, acted)
            : ['order', { id: 'no idea' }]
        tried ||= takesUp
        const { messages, done } = await equipped.step({ kind: 'calls', calls: [{ name, arguments: given }] })
        if (done) return { stopReason: 'done', message: null }
        const failed = messages[0].isError
        if (!failed) lines.push(...messages[0].content.split('\n'))
        acted ||= !takesUp && !failed && !lookUps.has(name)
      }
      return { stopReason: 'turn-budget', message: null }
    },
  })

function run(seed, optimizer) {
  const { environment, tasks } = loadDesk({
    seed,
    tasks: { train: 192, validation: 48, holdout: 48, reworded: 48 },
  })
  const all = [...tasks.train, ...tasks.validation, ...tasks.holdout]
  return lesson(deskWorker(new Map(all.map(({ id, data }) => [id, data.request]))), {
    source: rollouts(environment, all),
    reward: rubric({ solved: verifier(deskVerify) }),
    optimize: { tools: optimizer },
    schedule,
    seed,
    deterministic: true,
  })
}

export async function evidence(seeds) {
  console.log(
    `Held-out requests done right, in per cent; mean and 95 % interval over ${seeds.length} seeds, 96 each.\n`,
  )
  await compare(
    {
      'learned by induction': (seed) => run(seed, induce()),
      'control: the same program, which learns no skill': (seed) => run(seed, learnsNothing),
    },
    seeds,
  )
}
