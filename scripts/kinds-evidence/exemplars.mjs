/** Exemplars: a world of several steps, in which an episode helps where it says what was done at which state. */
import { rollouts } from '../../dist/learn/index.js'
import { caseExemplars, caseUtility } from '../../dist/optimize/memory/index.js'
import { rubric, verifier } from '../../dist/reward/index.js'
import { compare } from './intervals.mjs'
import { lesson } from './lesson.mjs'
import { errandDone, site, siteAgent, siteTasks } from './site.mjs'

const tasksOf = (seed) => siteTasks(seed, { train: 96, validation: 48, holdout: 96 })
const schedule = { updates: 12, tasks: 24, attempts: 4, validateEvery: 6, patience: null }

const run = (seed, how, optimizer) =>
  lesson(siteAgent(how), {
    source: rollouts(site, tasksOf(seed)),
    reward: rubric({ done: verifier(errandDone) }),
    optimize: { cases: optimizer },
    schedule,
    seed,
  })

const withExemplars = () => caseUtility({ also: [caseExemplars()] })
const arms = {
  'exemplars, followed by the state of the page': (seed) => run(seed, 'state', withExemplars()),
  'exemplars and cases, followed act by act': (seed) => run(seed, 'place', withExemplars()),
  'cases alone, followed act by act': (seed) => run(seed, 'place', caseUtility()),
  'control: the same program, which never recalls': (seed) => run(seed, null, withExemplars()),
}

export async function evidence(seeds) {
  console.log(`Held-out errands done, in per cent; mean and 95 % interval over ${seeds.length} seeds, 96 each.\n`)
  await compare(arms, seeds)
}
