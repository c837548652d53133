/**
 * What a context manager brings in a task that does not fit the budget, and what retrieval finds among 300 tools.
 *
 *     npx tsc -b && node scripts/context-evidence.mjs [--seeds 10] [--first 101] [--updates 24] [--arms REGEXP]
 *       [--only keep|tools] [--embedder minilm]
 *
 * Keep: 24 pages are read one after the other, three by each of eight tools, about three times as many tokens as the budget
 * holds. Only then a question tells two pages whose codes are the answer; both are of one tool, drawn anew for each seed, and
 * nothing says of which. The policy is a program that sees nothing but its prompt: it answers where the codes stand there, and
 * else reads back what is left out. Told is how many held-out tasks are solved where that many turns more are allowed than
 * reading and answering take. What is learned is learned with two; a turn that reads back costs 0.2 of a success. This says what
 * the view and its learning do, and nothing of how well a language model reads.
 *
 * Tools: 300 tools of 30 subjects, ten actions each; 300 requests in other words than the tools', and as many that keep a word
 * of the subject. How often the right tool is among the first 1, 8 and 16: by words, and with `--embedder` by a sentence model.
 */
import { parseArgs } from 'node:util'
import {
  context,
  defineAgent,
  keepPolicy,
  lexicalEmbedder,
  runEpisode,
  ToolIndex,
  user,
  weights,
} from '../dist/agent/index.js'
import { rng } from '../dist/core/index.js'
import { leaveOneOut } from '../dist/credit/index.js'
import { pairedGate, wilson } from '../dist/gate/index.js'
import { learn, rollouts } from '../dist/learn/index.js'
import { reinforce, thompson } from '../dist/optimize/choice/index.js'
import { rubric, verifier } from '../dist/reward/index.js'
import { openSentenceEmbedder } from '../dist/model/index.js'
import { openMemoryStore } from '../dist/store/index.js'
import { percent, table, times } from './evidence.mjs'
import { shown } from './kinds-evidence/intervals.mjs'
import { requests, tools } from './context-evidence/tools.mjs'
import { programModel } from './context-evidence/program-model.mjs'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    first: { type: 'string', default: '101' },
    updates: { type: 'string', default: '24' },
    arms: { type: 'string', default: '' },
    only: { type: 'string' },
    embedder: { type: 'string' },
  },
})
const SEEDS = times(Number(values.seeds), (i) => Number(values.first) + i)
const SORTS = ['mail', 'wiki', 'chat', 'files', 'crm', 'board', 'forum', 'notes']
const PAGES = 24
const ASKED = 2
const WORDS = 60
const BUDGET = 1_100

const code = (page) => new RegExp(`page ${page} has the code (c\\d+)`)

/** Tasks of one seed: which tool's pages are asked for is drawn anew, and told to nobody. */
function tasksOf(seed, counts) {
  const asked = SORTS[rng('asked', seed).int(SORTS.length)]
  return Object.entries(counts).flatMap(([split, count]) =>
    times(count, (i) => {
      const random = rng('context-evidence', seed, split, i)
      const sorts = random.shuffle(times(PAGES, (page) => SORTS[page % SORTS.length]))
      const pages = sorts.map((sort, page) => {
        const filler = times(WORDS, () => `w${random.int(5_000)}`)
        const found = `page ${page} has the code c${random.int(90_000) + 10_000}`
        return { sort, text: [...filler.slice(0, WORDS / 2), found, ...filler.slice(WORDS / 2)].join(' ') }
      })
      const own = pages.flatMap(({ sort }, page) => (sort === asked ? [page] : []))
      const wanted = random.shuffle(own).slice(0, ASKED)
      return {
        id: `${split}-${i}`,
        instruction: `Job ${i}: read all pages, then answer. Begin: ${sorts[0]} 0.`,
        data: { pages, wanted },
        split,
      }
    }),
  )
}

const definition = (name) => ({
  name,
  description: `Opens a page of ${name}.`,
  parameters: { type: 'object', properties: { page: { type: 'integer' } } },
})
const environment = {
  name: 'pages',
  open({ data: { pages, wanted } }) {
    let answered = ''
    const question = { role: 'user', content: `Question: the codes of ${wanted.join(' ')}.` }
    return {
      opening: [],
      tools: SORTS.map(definition),
      step(action) {
        if (action.kind === 'message') {
          answered = action.content
          return { messages: [], done: true }
        }
        const [
          {
            name,
            arguments: { page },
          },
        ] = action.calls
        const next = pages[page + 1]
        const content = `${pages[page].text}${next ? ` Next: ${next.sort} ${page + 1}.` : ''}`
        return { messages: [{ role: 'tool', name, content }, ...(next ? [] : [question])], done: false }
      },
      close: () => {
        const right = wanted.map((page) => code(page).exec(pages[page].text)[1]).join(' ')
        return { state: { right: answered === right }, counts: {} }
      },
    }
  },
}

/** The policy: a pure function of its prompt. */
function says(prompt) {
  const question = /Question: the codes of ([\d ]+)\./.exec(prompt)
  if (!question) {
    const [, sort = 'none', page = '0'] =
      [...prompt.matchAll(/Next: (\w+) (\d+)\./g)].at(-1) ?? /Begin: (\w+) (\d+)\./.exec(prompt) ?? []
    return `!${sort} {"page":${page}}`
  }
  const codes = question[1].split(' ').map((page) => ({ page, found: code(page).exec(prompt)?.[1] }))
  const missing = codes.find(({ found }) => found === undefined)
  if (missing === undefined) return codes.map(({ found }) => found).join(' ')
  if (!prompt.split('.', 1)[0].includes('read_back')) return 'unknown'
  return `!read_back {"id":"r${Number(missing.page) + 1}"}`
}

const budgetWith = (spare) => ({
  turns: PAGES + 1 + spare,
  tokens: 10_000,
  tokensPerTurn: 32,
  malformedCalls: 1,
  toolErrors: 9,
})
/** What reading back costs: the turn. */
const effort = {
  identity: 'read-back:0.2',
  score: ({ steps, nodes }) => {
    const said = new Set(steps.map(({ action }) => action))
    const calls = nodes.flatMap(({ id, message }) => (said.has(id) ? (message.toolCalls ?? []) : []))
    return -0.2 * calls.filter(({ name }) => name === 'read_back').length
  },
}
const agentOf = (options, isLearned) =>
  defineAgent({
    name: 'reader',
    parameters: {
      model: weights({ base: 'program' }),
      ...(isLearned && { keep: keepPolicy({ range: [0.6, 1], explore: 0.1 }) }),
    },
    run: (task, { model, keep }, episode) =>
      model.act(
        [user(task.instruction)],
        episode,
        options ? { context: context({ ...options, ...(keep && { keep }) }) } : {},
      ),
  })

const inForce = { version: 'v', generation: 0, checkpoint: null }

/** Held-out success by how many turns are spare; and, where none is, tokens that a call reads and those that no cache of prefixes has. */
async function measured(seed, options, keep = null) {
  let [before, read, fresh, calls] = [[], 0, 0, 0]
  const model = programModel(says, (prompt) => {
    let same = 0
    while (same < before.length && before[same] === prompt[same]) same++
    before = prompt
    calls++
    read += prompt.length
    fresh += prompt.length - same
  })
  const agent = agentOf(options, keep !== null)
  const tasks = tasksOf(seed, { holdout: HOLDOUT })
  const solved = SPARES.map(() => 0)
  for (const task of tasks) {
    const acting = { adapter: null, sampling: { temperature: 1 }, budget: budgetWith(MOST), seed: 0, now: () => 0 }
    const { finalState, steps } = await runEpisode({
      id: task.id,
      agent,
      environment,
      task,
      group: 'g',
      attempt: 0,
      seed: 0,
      bindings: {
        model: { ...model, kind: 'weights', inForce, ...acting },
        ...(keep && { keep: { kind: 'choice', inForce, value: keep, rng: rng('acts', seed, task.id) } }),
      },
      now: () => 0,
    })
    // The program does not know how many turns it has: with fewer it would have done the same, up to its end.
    for (const [i, spare] of SPARES.entries())
      solved[i] += Number(finalState.state.right && steps.length <= budgetWith(spare).turns) / tasks.length
  }
  return { solved, read: read / calls, fresh: fresh / calls }
}

/** The same with a policy that learned what to keep, as it serves after the gate; where it holds, that before. */
async function learned(seed, optimizer) {
  const store = await openMemoryStore()
  const { decision, releaseId } = await learn(agentOf(kept, true), {
    model: programModel(says),
    store,
    source: rollouts(environment, tasksOf(seed, { train: 48, validation: 16, holdout: HOLDOUT })),
    reward: rubric({ solved: verifier(({ state }) => Number(state.right)), effort }),
    credit: leaveOneOut(),
    optimize: { keep: optimizer },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    budget: budgetWith(MOST),
    schedule: {
      updates: UPDATES,
      tasks: 8,
      attempts: 4,
      validateEvery: UPDATES,
      holdoutTasks: HOLDOUT,
      patience: null,
      silentUpdates: 0,
    },
    check: false,
    seed,
  })
  const value = await servedKeep(store, releaseId)
  await store.close()
  return { ...(await measured(seed, kept, value)), promoted: Number(decision === 'promote') }
}

async function servedKeep(store, releaseId) {
  const release = releaseId && (await store.releases.get(releaseId))
  return release ? (await store.versions.get(release.versions.keep)).value.value : unlearned()
}

const unlearned = () => keepPolicy().initial(() => '')
/** Every form as likely as any other. */
const drawn = () => keepPolicy({ explore: 1 }).initial(() => '')

const HOLDOUT = 30
const UPDATES = Number(values.updates)
const SPARES = [0, 1, 2]
const MOST = 2
const kept = { budget: BUDGET, low: 0.8, excerpt: 200 }
const truncated = { budget: BUDGET, forms: ['dropped'], readBack: false }
const arms = {
  'no budget: the whole transcript': (seed) => measured(seed, null),
  'plain truncation, a turn at a time': (seed) => measured(seed, { ...truncated, low: 0.99 }),
  'plain truncation, in steps': (seed) => measured(seed, { ...truncated, low: 0.5 }),
  'the view, without read_back': (seed) => measured(seed, { ...kept, readBack: false }),
  'the view': (seed) => measured(seed, kept),
  'control: the view, what to keep drawn by lot': (seed) => measured(seed, kept, drawn()),
  'the view, keep policy learned by thompson()': (seed) => learned(seed, thompson()),
  'the view, keep policy learned by reinforce()': (seed) => learned(seed, reinforce()),
}

async function keepEvidence() {
  const rows = []
  for (const [name, arm] of Object.entries(arms).filter(([one]) => new RegExp(values.arms).test(one))) {
    const results = []
    for (const seed of SEEDS) results.push(await arm(seed))
    const mean = (of) => results.reduce((sum, one) => sum + of(one), 0) / results.length
    const promoted =
      results[0].promoted === undefined ? '' : `${results.filter((one) => one.promoted).length} of ${SEEDS.length}`
    rows.push([
      name,
      ...SPARES.map((spare) => shown(results.map(({ solved }) => solved[spare]))),
      Math.round(mean(({ read }) => read)),
      Math.round(mean(({ fresh }) => fresh)),
      promoted,
    ])
    console.error(rows.at(-1).join(' | '))
  }
  table(
    `${HOLDOUT} held-out tasks solved, in per cent; mean and 95 % interval over ${SEEDS.length} seeds`,
    [
      'arm',
      ...SPARES.map((spare) => `${spare} spare turns`),
      'tokens a call reads',
      'of them in no prefix cache',
      'promoted',
    ],
    rows,
  )
}

function withInterval(count, n) {
  const [low, high] = wilson(count, n, 0.95)
  return `${percent(count / n)} [${percent(low)}, ${percent(high)}]`
}

async function toolsEvidence() {
  const embedders = [
    ['words', lexicalEmbedder()],
    ...(values.embedder === undefined
      ? []
      : [['a sentence model', await openSentenceEmbedder({ model: values.embedder })]]),
  ]
  const rows = []
  for (const [by, embedder] of embedders) {
    const index = new ToolIndex(tools, embedder)
    for (const [name, asked] of Object.entries(requests)) {
      const found = { 1: 0, 8: 0, 16: 0 }
      const began = performance.now()
      for (const { tool, query } of asked) {
        const best = (await index.best(query, 16)).map(({ name }) => name)
        for (const k of Object.keys(found)) found[k] += Number(best.slice(0, k).includes(tool))
      }
      const each = (performance.now() - began) / asked.length
      rows.push([by, name, ...Object.values(found).map((count) => withInterval(count, asked.length)), each.toFixed(1)])
    }
  }
  rows.push(['chance', '', ...[1, 8, 16].map((k) => percent(k / tools.length)), ''])
  table(
    `The right tool among ${tools.length}, for ${tools.length} requests each`,
    ['by', 'requests in', 'k = 1', 'k = 8', 'k = 16', 'milliseconds a request'],
    rows,
  )
}

if (values.only !== 'tools') await keepEvidence()
if (values.only !== 'keep') await toolsEvidence()
