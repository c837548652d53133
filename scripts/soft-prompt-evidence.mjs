/**
 * What a soft prompt brings beside a LoRA adapter and beside nothing: the same demonstrations, the same number of passes and
 * updates, the same held-out tasks, over seeds.
 *
 *     npm run build && node scripts/soft-prompt-evidence.mjs [--seeds 5] [--first 1] [--arms soft-5,soft-20,lora-16]
 *
 * The world: a message of a customer, answered by the name of one desk of four. Its wordings are those of the demonstrations;
 * names and things of held-out tasks are in no other task. An arm `soft-20` has 20 vectors that begin as tokens drawn by the
 * seed, `told-20` begins as the desks' names, and `lora-16` has rank 16. `--rates '{"soft":0.02}'` changes learning rates.
 * One JSON object a line for each run, then a table.
 */
import { parseArgs } from 'node:util'
import {
  defineAgent,
  learn,
  openMemoryStore,
  policyGradient,
  rng,
  rollouts,
  rubric,
  softPrompt,
  Task,
  user,
  verifier,
  weights,
} from '../dist/index.js'
import { leaveOneOut } from '../dist/credit/index.js'
import { openEmbeddedModel } from '../dist/model/index.js'
import { shown } from './kinds-evidence/intervals.mjs'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5' },
    first: { type: 'string', default: '1' },
    arms: { type: 'string', default: 'soft-5,soft-20,lora-16' },
    rates: { type: 'string', default: '{}' },
    passes: { type: 'string', default: '8' },
    updates: { type: 'string', default: '4' },
    demonstrations: { type: 'string', default: '32' },
    holdout: { type: 'string', default: '80' },
  },
})
/** Chosen on seed 0, which is not reported: of 0.01, 0.03 and 0.1 for a soft prompt, of 0.001 and 0.003 for LoRA. */
const rates = { soft: 0.03, told: 0.03, lora: 1e-3, ...JSON.parse(values.rates) }

const desks = {
  sales: [
    '{n} wants to buy {t} and asks what it costs.',
    'How many of {t} can {n} order?',
    'Do you have {t} in blue, asks {n}.',
  ],
  refunds: [
    '{n} sends {t} back and wants the money.',
    'The money for {t} has not come back to {n}.',
    '{n} paid twice for {t}.',
  ],
  repairs: [
    '{t} of {n} does not work any more.',
    '{n} dropped {t}, and now it is broken.',
    'Can you mend {t} for {n}?',
  ],
  delivery: [
    '{n} still waits for {t}.',
    'When will {t} arrive at the house of {n}?',
    'The driver left {t} at a wrong door, says {n}.',
  ],
}
const names =
  'Ada,Ben,Cara,Dan,Eve,Finn,Gus,Hana,Ivan,June,Kai,Lena,Max,Nora,Omar,Pia,Ruth,Sam,Tara,Uma,Vic,Will,Yara,Zoe'.split(
    ',',
  )
const things =
  'the lamp,the chair,the radio,the clock,the kettle,the desk,the bike,the phone,the mirror,the fan,the heater,the tent,the drill,the camera,the printer,the sofa,the watch,the piano,the saw,the stove,the bench,the scale,the pump,the mixer'.split(
    ',',
  )
const parts = { train: [0, 12], validation: [12, 16], holdout: [16, 24] }

const tasks = Object.entries(parts).flatMap(([split, [from, to]]) =>
  names.slice(from, to).flatMap((n) =>
    things.slice(from, to).flatMap((t) =>
      Object.entries(desks).flatMap(([desk, wordings]) =>
        wordings.map((wording, i) =>
          Task.parse({
            id: `${split}-${n}-${t.slice(4)}-${desk}-${i}`,
            instruction: wording.replace('{n}', n).replace('{t}', t).replace(/^t/, 'T'),
            data: desk,
            split,
            family: desk,
          }),
        ),
      ),
    ),
  ),
)

const environment = {
  name: 'desks',
  open(task) {
    let said = ''
    return {
      opening: [],
      tools: [],
      step(action) {
        said = action.kind === 'message' ? action.content.trim().toLowerCase() : ''
        return { messages: [], done: true }
      },
      close: () => ({ state: { right: said === task.data }, counts: {} }),
    }
  },
}

function parameterOf(arm, base) {
  const [kind, size] = arm.split('-')
  if (kind === 'lora') return weights({ base, rank: Number(size) })
  return softPrompt({
    base,
    length: Number(size),
    ...(kind === 'told' && { initial: `${Object.keys(desks).join(', ')}. ` }),
  })
}

async function run(service, arm, seed) {
  const learningRate = rates[arm.split('-')[0]]
  const drawn = shuffled(
    tasks.filter(({ split }) => split === 'train'),
    seed,
  )
  const demonstrations = drawn.slice(0, Number(values.demonstrations)).map((task) => ({
    messages: [user(task.instruction), { role: 'assistant', content: task.data, toolCalls: [] }],
  }))
  const held = (split, count) =>
    shuffled(
      tasks.filter((task) => task.split === split),
      seed,
    ).slice(0, count)
  const store = await openMemoryStore()
  const began = Date.now()
  const { base, primed, learned, tokensTrained } = await learn(
    defineAgent({
      name: 'desk',
      parameters: { model: parameterOf(arm, service.base) },
      run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
    }),
    {
      model: service,
      store,
      source: rollouts(environment, [
        ...drawn.slice(0, 400),
        ...held('validation', 32),
        ...held('holdout', Number(values.holdout)),
      ]),
      prime: { demonstrations, supervised: { learningRate, batchSize: 4 } },
      reward: rubric({ right: verifier(({ state }) => (state.right ? 1 : 0)) }),
      credit: leaveOneOut(),
      optimize: { model: policyGradient({ learningRate: learningRate / 3, warmupUpdates: 0 }) },
      budget: { turns: 1, tokensPerTurn: 8 },
      check: false,
      schedule: {
        primePasses: Number(values.passes),
        augmentation: 0,
        rewording: 0,
        updates: Number(values.updates),
        tasks: 8,
        attempts: 6,
        validateEvery: 2,
        validationTasks: 32,
        holdoutTasks: Number(values.holdout),
        patience: null,
        silentUpdates: 0,
        target: null,
      },
      seed,
    },
  )
  await store.close()
  const success = (rate) => rate?.success ?? null
  return {
    arm,
    seed,
    base: success(base),
    primed: success(primed),
    learned: success(learned),
    tokensTrained,
    seconds: (Date.now() - began) / 1000,
  }
}

function shuffled(items, seed) {
  return rng('desks', seed).shuffle(items)
}

const { service } = await openEmbeddedModel({
  reference: 'minimind2-small',
  renderer: 'compact',
  workers: 1,
  threadsPerWorker: 1,
})
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => Number(values.first) + i)
const results = []
for (const seed of seeds) {
  for (const arm of values.arms.split(',')) {
    const result = await run(service, arm, seed)
    results.push(result)
    console.log(JSON.stringify(result))
  }
}
await service.close()

if (seeds.length > 1) {
  const arms = values.arms.split(',')
  const of = (arm, stage) => results.filter((result) => result.arm === arm).map((result) => result[stage] ?? 0)
  const less = (a, b) => shown(a.map((value, i) => value - b[i]))
  const last = arms.at(-1)
  console.log(
    `| arm | base | after imitation | after practice | ${last} does more after imitation | … after practice |`,
  )
  console.log('|---|---|---|---|---|---|')
  for (const arm of arms) {
    const stages = ['base', 'primed', 'learned'].map((stage) => shown(of(arm, stage)))
    const more = ['primed', 'learned'].map((stage) => less(of(last, stage), of(arm, stage)))
    console.log(`| ${[arm, ...stages, ...more].join(' | ')} |`)
  }
}
