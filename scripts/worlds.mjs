/** The worlds on which learning is shown: environment, tasks, a scripted expert and what checks it. */
import { defineAgent, rng, user, weights } from '../dist/index.js'
import * as environment from '../dist/environment/index.js'

/** The base model of all evidence where no other is named. */
export const reference = 'minimind2-small'

/** The agent of all evidence: asks the policy until the episode ends. */
export const agentOf = (name, base = reference) =>
  defineAgent({
    name,
    parameters: { model: weights({ base }) },
    run: (task, { model: policy }, episode) => policy.act([user(task.instruction)], episode),
  })

/** How each world is opened. `countTokens` says how long a text is to the model. */
export const worlds = {
  mdn: (countTokens) => mdnWorld('single-hop', countTokens),
  composed: (countTokens) => mdnWorld('composed', countTokens),
  desk: () => ({ ...environment.loadDesk(), expert: environment.deskExpert, check: environment.deskVerify }),
  files: () => ({ ...environment.loadFiles(), expert: environment.filesExpert, check: environment.filesVerify }),
  house: () => ({ ...environment.loadHouse(), expert: environment.houseExpert, check: environment.houseVerify }),
  forms: () => ({ ...environment.loadForms(), expert: environment.formsExpert, check: environment.formsVerify }),
  catalog: () => ({ ...environment.loadCatalog(), expert: environment.catalogExpert, check: environment.verify }),
}

/** The demonstrations that a run with this seed imitates: the expert's plays of some training tasks. */
export const demonstrationsOf = ({ environment: world, tasks, expert, check }, { count, seed }) =>
  Promise.all(
    rng('demonstrations', seed)
      .shuffle(tasks.train)
      .slice(0, count)
      .map((task) => environment.play(world, expert, task, check)),
  )

function mdnWorld(tier, countTokens) {
  const { environment: world, tasks } = environment.loadMdn({
    maxTitleLength: 12,
    titleLength: (title) => countTokens(` ${title}`),
  })
  const of = (all) => all.filter((task) => (task.tier ?? '').startsWith(tier))
  const split = { train: of(tasks.train), validation: of(tasks.validation), holdout: of(tasks.holdout) }
  return { environment: world, tasks: split, expert: environment.mdn.expert, check: environment.verify }
}
