/**
 * What learning a text brings, against none and against exemplars drawn by chance, as a Markdown table.
 *
 *     npx tsc -b && node scripts/text-evidence.mjs [--seeds 10] [--first 0] [--json]
 *
 * The job: name one of six desks for a ticket. The policy is a program whose answers depend on its text alone: it goes by rules
 * (`invoice means billing`), else it answers as the exemplar with the most words in common, else it guesses. Every seed has
 * its own words, tickets and guesses. The writer of the last two arms is a program too: it reads what a reviewer said of training
 * tickets, and knows nothing else. Each arm learns by `learn`, from 120 training and 48 validation tickets, and its candidate is
 * measured on 300 held-out ones.
 */
import { parseArgs } from 'node:util'
import { defineAgent, text } from '../dist/agent/index.js'
import { rng } from '../dist/core/index.js'
import { leaveOneOut } from '../dist/credit/index.js'
import { pairedGate } from '../dist/gate/index.js'
import { learn, rollouts } from '../dist/learn/index.js'
import { bulletsIn, exemplars, exemplarsIn, playbook, reflect, withExemplars } from '../dist/optimize/text/index.js'
import { rubric, verifier } from '../dist/reward/index.js'
import { openMemoryStore } from '../dist/store/index.js'
import { table, times } from './evidence.mjs'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    first: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
})
const SEEDS = times(Number(values.seeds), (i) => Number(values.first) + i)
const DESKS = ['billing', 'access', 'shipping', 'returns', 'press', 'sales']
const BASE = 'Name the desk that a ticket belongs to.'
const COUNT = 8

/** Words, tickets and guesses of one seed. */
function worldOf(seed) {
  const random = (...parts) => rng('text-evidence', seed, ...parts)
  const words = times(60, (i) => `w${seed}x${i.toString().padStart(2, '0')}`)
  const deskOf = new Map(
    random('desks')
      .shuffle(words)
      .map((word, i) => [word, DESKS[i % DESKS.length]]),
  )
  const wordsOf = Object.fromEntries(DESKS.map((desk) => [desk, words.filter((word) => deskOf.get(word) === desk)]))
  const tasksOf = (split, count) =>
    times(count, (i) => {
      const draw = random(split, i)
      const desk = DESKS[draw.int(DESKS.length)]
      const own = draw.shuffle(wordsOf[desk]).slice(0, 3)
      // One word of four is of any desk.
      const said = draw.shuffle([...own, words[draw.int(words.length)]])
      return { id: `${split}-${i}`, instruction: `ticket: ${said.join(' ')}`, data: { desk }, split }
    })
  const guess = (asked) => DESKS[random('guess', asked).int(DESKS.length)]
  return { deskOf, guess, tasks: [...tasksOf('train', 120), ...tasksOf('validation', 48), ...tasksOf('holdout', 300)] }
}

const ticketWords = (asked) => asked.split(' ').slice(1)

/** The policy: a pure function of its text and the ticket. */
function policyOf({ guess }) {
  let known = { text: null, rules: new Map(), shown: [] }
  const read = (from) => {
    if (known.text === from) return known
    const rules = new Map([...from.matchAll(/(w\w+) means (\w+)/g)].map(([, word, desk]) => [word, desk]))
    const shown = exemplarsIn(from).exemplars.map(({ asked, answered }) => ({ words: ticketWords(asked), answered }))
    known = { text: from, rules, shown }
    return known
  }
  return (from, asked) => {
    const { rules, shown } = read(from)
    const words = ticketWords(asked)
    const votes = words.flatMap((word) => rules.get(word) ?? [])
    const common = shown.map((one) => one.words.filter((word) => words.includes(word)).length)
    const nearest = common.indexOf(Math.max(...common))
    if (votes.length > 0) {
      const count = (desk) => votes.filter((vote) => vote === desk).length
      return votes.reduce((best, desk) => (count(desk) > count(best) ? desk : best))
    }
    return (common[nearest] ?? 0) > 0 ? shown[nearest].answered : guess(asked)
  }
}

const environment = {
  name: 'tickets',
  open({ instruction, data }) {
    let answered = ''
    return {
      opening: [],
      tools: [],
      step(action) {
        answered = action.kind === 'message' ? action.content : ''
        return { messages: [], done: true }
      },
      close: () => ({ state: { asked: instruction, answered, wanted: data.desk }, counts: {} }),
    }
  },
}
const isRight = ({ state }) => Number(state.answered === state.wanted)
const show = ({ finalState }) => ({ asked: finalState.state.asked, answered: finalState.state.answered })

/** Makes a rule of every word that reviewers said a desk of; it is wrong about words of other desks. */
const writer = {
  name: 'rules',
  async ask({ material }) {
    const { part = '', playbook: bullets, episodes } = JSON.parse(material)
    const rules = episodes.flatMap(({ asked, feedback = '' }) =>
      ticketWords(asked).map((word) => `${word} means ${feedback.replace('The desk is ', '').replace('.', '')}`),
    )
    const fresh = [...new Set(rules)].filter((rule) => !material.includes(`${rule.split(' ')[0]} means`))
    const said = bullets ? JSON.stringify({ add: fresh.slice(0, 8) }) : [part, ...fresh].join('\n')
    return { text: `\`\`\`\n${said}\n\`\`\``, whole: true }
  },
}
const feedback = ({ trajectory }) => `The desk is ${trajectory.finalState.state.wanted}.`
const budget = { evaluations: 1_500, measuredBy: 48 }
const arms = {
  exemplars: exemplars({ count: COUNT, perUpdate: 4, show, ...budget }),
  reflect: reflect({ writer, feedback, show, perUpdate: 2, ...budget }),
  playbook: playbook({ writer, feedback, show, perUpdate: 2, bullets: 60, ...budget }),
}

/** Learns with one optimizer. @returns the text that it proposed, and what `learn` says that it earned. */
async function learned(seed, world, policy, optimizer) {
  const store = await openMemoryStore()
  const agent = defineAgent({
    name: 'desk',
    parameters: { system: text(BASE) },
    async run(task, { system }, episode) {
      await episode.step({ kind: 'message', content: policy(system.value, task.instruction) })
      return { stopReason: 'done', message: null }
    },
  })
  const {
    runId,
    base,
    learned: found,
    decision,
  } = await learn(agent, {
    store,
    seed,
    source: rollouts(environment, world.tasks),
    reward: rubric({ solved: verifier(isRight) }),
    credit: leaveOneOut(),
    optimize: { system: optimizer },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    schedule: {
      updates: 8,
      tasks: 8,
      attempts: 2,
      validateEvery: 8,
      validationTasks: 48,
      holdoutTasks: 300,
      patience: null,
      target: null,
      silentUpdates: 0,
      stillUpdates: 0,
    },
    deterministic: true,
  })
  const { state } = await store.runs.latestCheckpoint(runId)
  await store.close()
  return { text: state.proposed.system?.text ?? BASE, base: base.success, success: found.success, decision }
}

/** Own successes of the policy as it begins, so many by chance; `balanced`: of answers that the set has least of. */
function byChance(seed, world, policy, count, balanced) {
  const won = world.tasks.filter(
    ({ split, instruction, data }) => split === 'train' && policy(BASE, instruction) === data.desk,
  )
  const left = rng('text-evidence', seed, 'chance').shuffle(won)
  const drawn = []
  while (drawn.length < count && left.length > 0) {
    const had = ({ data }) => drawn.filter((one) => one.data.desk === data.desk).length
    const next = balanced ? left.reduce((rarest, one) => (had(one) < had(rarest) ? one : rarest)) : left[0]
    drawn.push(...left.splice(left.indexOf(next), 1))
  }
  return withExemplars(
    BASE,
    drawn.map(({ instruction, data }) => ({ asked: instruction, answered: data.desk })),
  )
}

const rows = []
for (const seed of SEEDS) {
  const world = worldOf(seed)
  const policy = policyOf(world)
  const holdout = world.tasks.filter(({ split }) => split === 'holdout')
  const successOf = (from) =>
    holdout.filter(({ instruction, data }) => policy(from, instruction) === data.desk).length / holdout.length
  const row = { seed, none: successOf(BASE) }
  for (const [name, optimizer] of Object.entries(arms)) {
    const { text: proposed, base, success, decision } = await learned(seed, world, policy, optimizer)
    if (Math.abs(base - row.none) > 1e-9)
      throw new Error('learn measures the text that serves otherwise than this script')
    if (Math.abs(success - successOf(proposed)) > 1e-9) throw new Error('what was proposed is not what was measured')
    row[name] = success
    row[`${name}.decision`] = decision
    if (name === 'exemplars') {
      row.shown = exemplarsIn(proposed).exemplars.length
      row.chance = successOf(byChance(seed, world, policy, row.shown, false))
      row.balanced = successOf(byChance(seed, world, policy, row.shown, true))
    }
    if (name === 'playbook') row.bullets = bulletsIn(proposed).bullets.length
  }
  rows.push(row)
  if (values.json) console.log(JSON.stringify(row))
}

/** Quantiles of Student's t at 0.975. */
const T = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145]
function interval(all) {
  const mean = all.reduce((sum, x) => sum + x, 0) / all.length
  const variance = all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (all.length - 1)
  const half = (T[all.length - 1] ?? 1.96) * Math.sqrt(variance / all.length)
  return {
    mean,
    text: `${(100 * mean).toFixed(1)} (${(100 * (mean - half)).toFixed(1)} to ${(100 * (mean + half)).toFixed(1)})`,
  }
}
const of = (name) => rows.map((row) => row[name])
const promoted = (name) =>
  `${of(`${name}.decision`).filter((decision) => decision === 'promote').length} of ${rows.length}`
table(
  `Success on 300 held-out tickets in %, seeds ${SEEDS[0]} to ${SEEDS.at(-1)} (n = ${SEEDS.length}), mean with 95 % t-interval over seeds`,
  ['arm', 'success', 'more than no learning', 'promoted by the gate'],
  [
    ['no learning', interval(of('none')).text, '', ''],
    [
      'own successes by chance, as many as were chosen',
      interval(of('chance')).text,
      interval(rows.map((row) => row.chance - row.none)).text,
      '',
    ],
    [
      'the same, each answer alike often',
      interval(of('balanced')).text,
      interval(rows.map((row) => row.balanced - row.none)).text,
      '',
    ],
    ...Object.keys(arms).map((name) => [
      name,
      interval(of(name)).text,
      interval(rows.map((row) => row[name] - row.none)).text,
      promoted(name),
    ]),
  ],
)
const against = (name) => interval(rows.map((row) => row.exemplars - row[name])).text
console.log(
  `\nChosen exemplars against as many by chance: ${against('chance')} points; with each answer alike often: ${against('balanced')}. Exemplars chosen: ${of('shown').join(', ')}. Bullets: ${of('bullets').join(', ')}.`,
)
