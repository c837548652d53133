/** Memory: a world in which only experience helps, with a control that never recalls, and with planted falsehoods. */
import { newItem } from '../../dist/agent/index.js'
import { rng } from '../../dist/core/index.js'
import { rollouts } from '../../dist/learn/index.js'
import { caseSelector, caseUtility, insights } from '../../dist/optimize/memory/index.js'
import { rubric, verifier } from '../../dist/reward/index.js'
import { compare } from './intervals.mjs'
import { lesson } from './lesson.mjs'
import { desks, matters, office, officeAgent, officeTasks, rightDesk } from './office.mjs'

const tasksOf = (seed) => officeTasks(seed, { train: 96, validation: 48, holdout: 96 })
const schedule = { updates: 12, tasks: 24, attempts: 4, validateEvery: 6, patience: null }

const run = (seed, { options = {}, optimizer = caseUtility() } = {}) =>
  lesson(officeAgent(options), {
    source: rollouts(office, tasksOf(seed)),
    reward: rubric({ solved: verifier(rightDesk) }),
    optimize: { cases: optimizer },
    schedule,
    seed,
  })

/** Falsehoods that look like cases: a wrong desk for each matter, well trusted, each from a source of its own. */
function planted(seed) {
  const chance = rng('planted', seed)
  const right = new Map(
    tasksOf(seed).map(({ instruction, data }) => [matters.find((it) => instruction.includes(it)), data.desk]),
  )
  return matters
    .flatMap((matter) =>
      [0, 1].map((i) =>
        newItem({
          type: 'case',
          cue: `I have ${matter}.`,
          text: desks.filter((desk) => desk !== right.get(matter))[chance.int(desks.length - 1)],
          worked: true,
          derivedFrom: [`planted-${matter}-${i}`],
          owner: { tenant: null, about: null },
          source: `planted-${matter}-${i}`,
          trust: 1,
          from: 0,
          expires: null,
          utility: 1,
        }),
      ),
    )
    .filter((item, i, all) => all.findIndex(({ id }) => id === item.id) === i)
}

export async function evidence(seeds) {
  const arms = {
    'learned, cases by utility': (seed) => run(seed),
    'the same, with a selector': (seed) => run(seed, { optimizer: caseUtility({ also: [caseSelector()] }) }),
    'the same, with insights': (seed) => run(seed, { optimizer: caseUtility({ also: [insights()] }) }),
    'control: the same program, which never recalls': (seed) => run(seed, { options: null }),
    'poisoned: two falsehoods a matter planted, then learned': (seed) =>
      run(seed, { options: { items: planted(seed) } }),
  }
  console.log(`Held-out tasks solved, in per cent; mean and 95 % interval over ${seeds.length} seeds, 96 tasks each.\n`)
  await compare(arms, seeds)
  console.log(
    `\nChance is ${(100 / desks.length).toFixed(1)}. Held-out tasks are worded otherwise than practice; ${matters.length} matters, one right desk each, drawn anew for each seed.`,
  )
}
