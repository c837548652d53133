/**
 * What holds on to an old skill while a new one is learned: two families of tasks one after the other, with replay, with
 * elastic weight consolidation (EWC), with both, and with nothing. Prints progress and, at the end, Markdown.
 *
 *     npx tsc -b && node scripts/forgetting-evidence.mjs --seeds 3
 *
 * Family A asks "Which version of edge supports X?" and is answered with `search`, `open` and `answer`. Family B is the
 * same corpus under another tool protocol: "Check X in edge.", answered with `find`, `read` and `reply 57 in edge`. A
 * policy can do both, because the questions differ; one that has only B's lines in its gradient need not. Both are learned
 * by supervised passes over expert demonstrations; success is measured greedily on tasks whose documents were in none.
 */
import { parseArgs } from 'node:util'
import { defineAgent, demonstration, user, weights } from '../dist/agent/index.js'
import { rng, TaskId } from '../dist/core/index.js'
import { loadMdn, mdn, play, verify } from '../dist/environment/index.js'
import { wilson } from '../dist/gate/index.js'
import { openEmbeddedModel } from '../dist/model/index.js'
import { demonstrationDatum, drawReplay, supervisedPass } from '../dist/optimize/weights/index.js'
import { greedyAttempts } from './attempts.mjs'

const { values: flags } = parseArgs({
  options: {
    seeds: { type: 'string', default: '3' },
    /** The first seed; the settings below were chosen on seed 0. */
    from: { type: 'string', default: '1' },
    arms: { type: 'string', default: 'nothing,replay,EWC,both' },
    demonstrations: { type: 'string', default: '128' },
    passes: { type: 'string', default: '3' },
    /** Tasks measured, of each family. */
    tasks: { type: 'string', default: '100' },
    /** Demonstrations of A that are kept for replay. */
    kept: { type: 'string', default: '32' },
    share: { type: 'string', default: '0.25' },
    strength: { type: 'string', default: '1e5' },
    rank: { type: 'string', default: '32' },
    learningRate: { type: 'string', default: '6e-4' },
  },
})
const number = (name) => Number(flags[name])
const RANK = number('rank')
const BATCH = 8
const ARMS = flags.arms.split(',')
const began = Date.now()
const say = (text) => console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`)

/** An environment under other tool names: the old ones are not known in it. */
function renamed(environment, verbs) {
  const oldOf = (name) => verbs[name] ?? 'unknown'
  return {
    name: `${environment.name}-renamed`,
    open(task, seed) {
      const episode = environment.open(task, seed)
      const tools = Object.entries(verbs).map(([name, old]) => ({
        ...episode.tools.find((tool) => tool.name === old),
        name,
      }))
      const step = (action) =>
        episode.step(
          action.kind === 'calls'
            ? { ...action, calls: action.calls.map((call) => ({ ...call, name: oldOf(call.name) })) }
            : action,
        )
      return { opening: episode.opening, tools, step, close: () => episode.close() }
    },
  }
}

const VERBS = { find: 'search', read: 'open', reply: 'answer' }
const PARAMETERS = { find: 'query', read: 'title', reply: 'text' }

/** The same question as a task of family B. */
function checked(task) {
  const { browser, titles } = mdn.questionOf(task)
  const accepted = [`${task.data.accepted[1]} in ${browser}`]
  return {
    ...task,
    id: TaskId.parse(`check-${task.id}`),
    instruction: `Check ${titles[0]} in ${browser}.`,
    data: { ...task.data, accepted },
  }
}

const checker = async (episode, task) => {
  const call = (name, text) =>
    episode.step({ kind: 'calls', calls: [{ name, arguments: { [PARAMETERS[name]]: text } }] })
  const [title] = mdn.questionOf(task).titles
  await call('find', title)
  await call('read', title)
  await call('reply', task.data.accepted[0])
}

const opened = await openEmbeddedModel({ reference: 'minimind2-small', renderer: 'compact' })
const { service: model } = opened
const agent = defineAgent({
  name: 'librarian',
  parameters: { model: weights({ base: 'minimind2-small', rank: RANK }) },
  run: (task, { model: policy }, episode) => policy.act([user(task.instruction)], episode),
})

/** The two families of one seed: demonstrations, and tasks to measure on. No document is in both parts. */
async function familiesOf(seed) {
  const { environment, tasks } = loadMdn({
    seed,
    maxTitleLength: 12,
    titleLength: (title) => opened.countTokens(` ${title}`),
    wordings: 'few',
  })
  const single = (of) => of.filter(({ tier }) => tier === 'single-hop')
  const [train, measured] = [single(tasks.train), single(tasks.validation)]
  const [shown, asked] = [number('demonstrations'), number('tasks')]
  const other = renamed(environment, VERBS)
  const family = async (world, expert, shownTasks, measuredTasks) => {
    const plays = await Promise.all(shownTasks.map((task) => play(world, expert, task, verify)))
    const { tools } = world.open(shownTasks[0], 0)
    if (!plays.every(({ success }) => success)) throw new Error('an expert failed')
    const demonstrations = plays.map(({ messages }) => demonstration(messages, tools, model.renderer))
    return { environment: world, demonstrations, measured: measuredTasks }
  }
  return {
    A: await family(environment, mdn.expert, train.slice(0, shown), measured.slice(0, asked)),
    B: await family(
      other,
      checker,
      train.slice(shown, 2 * shown).map(checked),
      measured.slice(asked, 2 * asked).map(checked),
    ),
  }
}

/** How many of a family's tasks the trainer's weights solve, greedily. */
async function measure(trainer, { environment, measured }, name) {
  const adapter = await trainer.publish()
  const budget = { turns: 6, tokensPerTurn: 20, tokens: 2000, seconds: 600, malformedCalls: 1, toolErrors: 2 }
  const trajectories = await greedyAttempts(model, {
    agent,
    environment,
    tasks: measured,
    batch: name,
    adapter,
    budget,
  })
  await model.sampler.unload(adapter)
  const failed = trajectories.find(({ stopReason }) => stopReason === 'error')
  if (failed) say(`${name}: an episode failed: ${JSON.stringify(failed.error ?? failed.stopReason)}`)
  const solved = trajectories.filter(({ finalState }) => finalState !== null && verify(finalState) === 1).length
  say(`${name}: ${solved} of ${measured.length}`)
  return { solved, n: measured.length }
}

/** @param earlier what is rehearsed in every pass, as a share of it. */
async function imitate(trainer, demonstrations, seed, name, earlier = []) {
  for (let pass = 1; pass <= number('passes'); pass++) {
    const fresh = demonstrations.length
    const replayed = drawReplay({ fresh, earlier, share: number('share'), rng: rng('replay', seed, pass) })
    const order = rng('forgetting', seed, name, pass)
    const { loss } = await supervisedPass(trainer, [...demonstrations, ...replayed], order, {
      learningRate: number('learningRate'),
      batchSize: BATCH,
    })
    say(`seed ${seed}, ${name}: pass ${pass}, loss ${loss.toFixed(3)}`)
  }
}

async function runSeed(seed) {
  const { A, B } = await familiesOf(seed)
  const trainer = await model.trainer({ kind: 'lora', rank: RANK, alpha: RANK }, seed)
  await imitate(trainer, A.demonstrations, seed, 'A')
  const learned = await trainer.saveWeights()
  const before = { A: await measure(trainer, A, `${seed}/before/A`), B: await measure(trainer, B, `${seed}/before/B`) }
  const kept = A.demonstrations.slice(0, number('kept'))
  const anchor = await trainer.anchoring.importance(A.demonstrations.map((one) => demonstrationDatum(one, 1)))
  say(`seed ${seed}: importance measured on ${A.demonstrations.length} demonstrations`)
  const after = new Map()
  for (const arm of ARMS) {
    await trainer.loadWeights(learned)
    await trainer.anchoring.hold(arm === 'EWC' || arm === 'both' ? [anchor] : [], number('strength'))
    const replayed = arm === 'replay' || arm === 'both'
    await imitate(trainer, B.demonstrations, seed, `B, ${arm}`, replayed ? kept : [])
    after.set(arm, {
      A: await measure(trainer, A, `${seed}/${arm}/A`),
      B: await measure(trainer, B, `${seed}/${arm}/B`),
    })
  }
  await trainer.close()
  return { seed, before, after }
}

const percent = (share) => (100 * share).toFixed(1)
const rate = ({ solved, n }) => {
  const [low, high] = wilson(solved, n, 0.95)
  return `${percent(solved / n)} % [${percent(low)}, ${percent(high)}]`
}
const total = (measured) =>
  measured.reduce((sum, { solved, n }) => ({ solved: sum.solved + solved, n: sum.n + n }), { solved: 0, n: 0 })

function print(runs) {
  const row = (cells) => console.log(`| ${cells.join(' | ')} |`)
  const rowsOf = (label, of) => {
    row([label, 'A alone, before B', rate(total(of.map((r) => r.before.A))), rate(total(of.map((r) => r.before.B)))])
    for (const arm of ARMS) {
      const measured = of.map(({ after }) => after.get(arm))
      row([label, `then B, ${arm}`, rate(total(measured.map((m) => m.A))), rate(total(measured.map((m) => m.B)))])
    }
  }
  row(['seed', 'learned', 'success on A', 'success on B'])
  row(['---', '---', '---', '---'])
  for (const run of runs) rowsOf(run.seed, [run])
  if (runs.length > 1) rowsOf('all', runs)
}

const runs = []
for (let i = 0; i < number('seeds'); i++) {
  runs.push(await runSeed(number('from') + i))
  say(JSON.stringify(runs.at(-1), (_, value) => (value instanceof Map ? Object.fromEntries(value) : value)))
}
await model.close()
const settings = Object.entries(flags).map(([name, value]) => `--${name} ${value}`)
console.log(`Settings: \`${settings.join(' ')}\`; ${((Date.now() - began) / 60000).toFixed(0)} minutes.\n`)
print(runs)
