/**
 * Whether tests that are run and a learned scorer that runs nothing choose better together: the best of n whole attempts.
 *
 *   node scripts/hybrid-evidence.mjs [first seed] [seeds] [regime]
 *
 * A task says in words what a function of a list shall do. An attempt is a JavaScript program in the text of an answer: the
 * right one, or one with mistakes that people make. It is run in the sandbox. Known before an answer is chosen: two tests of
 * plain inputs. The truth: some 35 hidden inputs, among them empty lists and the edges of each condition. The scorer is a
 * logistic regression (`fitRewardModel`) on eight numbers of the words and the code, learned from 40 other tasks with 8
 * attempts each and what the hidden tests said of them. Where it is refused, the hybrid is the tests alone.
 *
 * Arms, by `bestAttempt`; ties count as by lot: no choice; tests alone; scorer alone; half tests and half scorer, added; the
 * hybrid; and an oracle, which finds a right one where there is one. Told: the share of 40 tasks whose chosen program passes
 * all hidden tests, mean over seeds with Student's 95 % interval, and how many points more the hybrid has, paired by seed.
 */
import { rng } from '../dist/core/index.js'
import { bestAttempt, fitRewardModel, hybrid, learnedReward, rubric, testsPass } from '../dist/reward/index.js'
import { attemptsAt } from './hybrid-evidence/attempts.mjs'
import { shown } from './kinds-evidence/intervals.mjs'

const [first, count] = [Number(process.argv[2] ?? 101), Number(process.argv[3] ?? 20)]
const sizes = [2, 4, 8, 16]
const trained = { tasks: 40, attempts: 8 }
const tried = { tasks: 40, attempts: Math.max(...sizes) }
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/** What can be read of words and code that nobody runs. */
const read = {
  name: 'words-and-code:1',
  of({ nodes: [asked, answered] }) {
    const [words, text] = [asked.message.content, answered.message.content]
    const count = (pattern) => (text.match(pattern) ?? []).length
    const numbers = (of) => new Set(of.match(/\d+/g) ?? [])
    const steps = count(/\.filter\(|\.map\(/g)
    const asks = (words.match(/Keep|Add|Multiply|Take|Square/g) ?? []).length
    const inCode = numbers(text.replace(/step\d/g, ''))
    const missing = [...numbers(words)].filter((one) => !inCode.has(one)).length
    return Promise.resolve([
      count(/\/\//g),
      count(/const step/g) > 0 ? 1 : 0,
      count(/should/g),
      Math.log(text.length),
      asks,
      Math.max(0, asks - steps),
      missing,
      text.includes('? 0 :') === words.includes('or 0') ? 1 : 0,
    ])
  },
}
/** How the author writes, and nothing of what the code does. */
const looks = { name: 'looks:1', of: async (trajectory) => (await read.of(trajectory)).slice(0, 3) }
/** Knows nothing: the same for equal texts, and else by lot. */
const lot = {
  name: 'by-lot:1',
  of: ({ task, nodes }) => {
    const random = rng('lot', task.id, nodes[1].message.content)
    return Promise.resolve(Array.from({ length: 8 }, () => random.next()))
  },
}

const regimes = {
  both: { title: 'each knows something' },
  'no-scorer': { title: 'the scorer knows nothing', features: lot },
  'forced-scorer': { title: 'the scorer knows nothing, and is not refused', force: true },
  'idle-tests': { title: 'the test is one that nearly all pass', world: { tests: 'idle' } },
  'wrong-tests': { title: 'in half of the tasks one of two tests is wrong', world: { tests: 'wrong' } },
  misled: {
    title: 'the scorer reads looks alone, and here the careless write as the careful did where it learned',
    features: looks,
    // From 40 tasks it is refused.
    from: 200,
    world: { reversed: true },
  },
  against: { title: 'the scorer says the opposite of the truth', against: true },
}

async function scorerOf(seed, features, tasks) {
  const examples = []
  for (let i = 0; i < tasks; i++) {
    for (const { trajectory, passed } of await attemptsAt(seed, `train${i}`, trained.attempts)) {
      examples.push({ subject: trajectory.task.id, features: await features.of(trajectory), accepted: passed })
    }
  }
  const fitted = fitRewardModel(examples, { features: features.name, seed })
  return fitted.status === 'fitted' ? learnedReward(fitted.model, features) : null
}

const byLot = { identity: 'by-lot', score: (trajectory) => rng('score', trajectory.task.id, trajectory.id).next() }
const nothing = { identity: 'nothing', score: () => 0 }
const half = (part) => ({
  identity: `half:${part.identity}`,
  score: async (...seen) => 0.5 * (await part.score(...seen)),
})
/** What was scored once is not scored again: the arms choose among the same attempts. */
function once(part) {
  const scores = new WeakMap()
  return {
    identity: part.identity,
    async score(trajectory, ...rest) {
      if (!scores.has(trajectory)) scores.set(trajectory, await part.score(trajectory, ...rest))
      return scores.get(trajectory)
    },
  }
}

/** `testsPass` runs each test in a thread of its own; here all were run at once. That both say the same is checked on some. */
const checked = testsPass({ tests: { at: '/visible' }, partial: true })

async function trial(seed, { features = read, from = trained.tasks, world = {}, force = false, against = false }) {
  const found = new Map()
  const opposite = { identity: 'opposite', score: ({ id }) => Number(!found.get(id).passed) }
  const learned = against ? opposite : force ? byLot : await scorerOf(seed, features, from)
  const scorer = once(learned ?? nothing)
  const tests = { identity: 'tests', score: ({ id }) => found.get(id).ran }
  const arms = {
    'no choice': nothing,
    'tests alone': tests,
    'scorer alone': scorer,
    'half and half': learned === null ? tests : null,
    hybrid: learned === null ? tests : hybrid(tests, scorer),
    oracle: { identity: 'oracle', score: ({ id }) => Number(found.get(id).passed) },
  }
  const rubrics = Object.entries(arms).map(([name, part]) => [
    name,
    part === null ? rubric({ tests: half(tests), scorer: half(scorer) }) : rubric({ right: part }),
  ])
  const right = new Map(rubrics.map(([name]) => [name, sizes.map(() => [])]))
  for (let i = 0; i < tried.tasks; i++) {
    const attempts = await attemptsAt(seed, `try${i}`, tried.attempts, world)
    for (const one of attempts) found.set(one.trajectory.id, one)
    if (i === 0) {
      const said = await checked.score(attempts[0].trajectory, [], 0)
      if (said !== attempts[0].ran) throw new Error(`testsPass says ${said}, not ${attempts[0].ran}`)
    }
    for (const [name, reward] of rubrics) {
      for (const [j, n] of sizes.entries()) {
        const { tied } = await bestAttempt(
          attempts.slice(0, n).map(({ trajectory }) => trajectory),
          reward,
          { asOf: 0 },
        )
        right.get(name)[j].push(mean(tied.map(({ trajectory }) => Number(found.get(trajectory.id).passed))))
      }
    }
  }
  const all = [...found.values()]
  const wrong = all.filter(({ passed }) => !passed)
  return {
    refused: learned === null,
    weak: wrong.filter(({ ran }) => ran === 1).length / wrong.length,
    shares: new Map([...right].map(([name, bySize]) => [name, bySize.map(mean)])),
  }
}

for (const [name, regime] of Object.entries(regimes)) {
  if (process.argv[4] !== undefined && process.argv[4] !== name) continue
  const trials = []
  for (let seed = first; seed < first + count; seed++) trials.push(await trial(seed, regime))
  console.log(`\n### ${regime.title}\n`)
  console.log(
    `Wrong programs that pass the known tests: ${shown(trials.map(({ weak }) => weak))} %. Scorers refused: ${trials.filter(({ refused }) => refused).length} of ${count}.\n`,
  )
  console.log(
    `| chosen by | ${sizes.map((n) => `best of ${n}`).join(' | ')} |\n|---|${sizes.map(() => '---').join('|')}|`,
  )
  const row = (title, of) =>
    console.log(`| ${title} | ${sizes.map((_, j) => shown(trials.map((one) => of(one, j)))).join(' | ')} |`)
  for (const arm of trials[0].shares.keys()) row(arm, ({ shares }, j) => shares.get(arm)[j])
  for (const arm of ['tests alone', 'scorer alone', 'half and half']) {
    row(`hybrid less ${arm}`, ({ shares }, j) => shares.get('hybrid')[j] - shares.get(arm)[j])
  }
}
