/**
 * What a context manager brings in a task that does not fit the budget, and what retrieval finds among 300 tools.
 *
 *     npx tsc -b && node scripts/context-evidence.mjs [--seeds 10] [--first 101] [--only keep|tools]
 *
 * Keep: 30 pages are read one after the other, five by each of six tools, about three times as many tokens as the budget holds.
 * Only then a question tells three pages whose codes are the answer; all are of one tool, drawn anew for each seed, and nothing
 * says of which. Two turns more than needed are allowed. The policy is a program that sees nothing but its prompt: it answers
 * where the codes stand there, and else reads back what stands as left out. This says what the view and its learning do, and
 * nothing of how well a language model reads.
 *
 * Tools: 300 tools of 30 subjects, ten actions each; 300 requests in other words than the tools', and as many that keep a word
 * of the subject. Recall of the right tool among eight that are offered, by words alone.
 */
import { parseArgs } from 'node:util'
import { context, defineAgent, keepPolicy, lexicalEmbedder, runEpisode, ToolIndex, user, weights } from '../dist/agent/index.js'
import { rng } from '../dist/core/index.js'
import { leaveOneOut } from '../dist/credit/index.js'
import { pairedGate } from '../dist/gate/index.js'
import { learn, rollouts } from '../dist/learn/index.js'
import { reinforce, thompson } from '../dist/optimize/choice/index.js'
import { rubric, verifier } from '../dist/reward/index.js'
import { openMemoryStore } from '../dist/store/index.js'
import { percent, table, times } from './evidence.mjs'
import { shown } from './kinds-evidence/intervals.mjs'
import { requests, tools } from './context-evidence/tools.mjs'
import { programModel } from './context-evidence/program-model.mjs'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    first: { type: 'string', default: '101' },
    only: { type: 'string' },
  },
})
const SEEDS = times(Number(values.seeds), (i) => Number(values.first) + i)
const SORTS = ['mail', 'wiki', 'chat', 'files', 'crm', 'board']
const PAGES = 30
const ASKED = 3
const SPARE = 2
const WORDS = 120
const BUDGET = 2_500

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
      return { id: `${split}-${i}`, instruction: `Job ${i}: read all pages, then answer. Begin: ${sorts[0]} 0.`, data: { pages, wanted }, split }
    }),
  )
}

const definition = (name) => ({ name, description: `Opens a page of ${name}.`, parameters: { type: 'object', properties: { page: { type: 'integer' } } } })
const environment = {
  name: 'pages',
  open({ data: { pages, wanted } }) {
    let answered = ''
    const next = (page) => (page < pages.length ? `Next: ${pages[page].sort} ${page}.` : `Question: ${wanted.join(' ')}.`)
    return {
      opening: [],
      tools: SORTS.map(definition),
      step(action) {
        if (action.kind === 'message') {
          answered = action.content
          return { messages: [], done: true }
        }
        const messages = action.calls.map(({ name, arguments: { page } }) => ({
          role: 'tool',
          name,
          content: `${pages[page].text} ${next(page + 1)}`,
        }))
        return { messages, done: false }
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
  const question = /Question: ([\d ]+)\./.exec(prompt)
  if (!question) {
    const [, sort = 'none', page = '0'] = [...prompt.matchAll(/Next: (\w+) (\d+)\./g)].at(-1) ?? /Begin: (\w+) (\d+)\./.exec(prompt) ?? []
    return `!${sort} {"page":${page}}`
  }
  const codes = question[1].split(' ').map((page) => ({ page, found: code(page).exec(prompt)?.[1] }))
  const missing = codes.find(({ found }) => found === undefined)
  if (missing === undefined) return codes.map(({ found }) => found).join(' ')
  if (!prompt.split('.', 1)[0].includes('read_back')) return 'unknown'
  return `!read_back {"id":"r${Number(missing.page) + 1}"}`
}

const budget = { turns: PAGES + 1 + SPARE, tokens: 10_000, tokensPerTurn: 32, malformedCalls: 1, toolErrors: 9 }
const agentOf = (options, learned = false) =>
  defineAgent({
    name: 'reader',
    parameters: { model: weights({ base: 'program' }), ...(learned && { keep: keepPolicy({ explore: 0.1 }) }) },
    run: (task, { model, keep }, episode) =>
      model.act([user(task.instruction)], episode, options ? { context: context({ ...options, ...(keep && { keep }) }) } : {}),
  })

/** Held-out success of a context that learns nothing, with the tokens that a call reads, and those of them that no cache of prefixes has. */
async function fixed(seed, options) {
  let [before, read, fresh, calls] = [[], 0, 0, 0]
  const model = programModel(says, (prompt) => {
    let same = 0
    while (same < before.length && before[same] === prompt[same]) same++
    before = prompt
    calls++
    read += prompt.length
    fresh += prompt.length - same
  })
  const agent = agentOf(options)
  let solved = 0
  const tasks = tasksOf(seed, { holdout: HOLDOUT })
  for (const task of tasks) {
    const { finalState } = await runEpisode({
      id: task.id,
      agent,
      environment,
      task,
      group: 'g',
      attempt: 0,
      seed: 0,
      bindings: {
        model: {
          ...model,
          kind: 'weights',
          inForce: { version: 'v', generation: 0, checkpoint: null },
          adapter: null,
          sampling: { temperature: 1 },
          budget,
          seed: 0,
          now: () => 0,
        },
      },
      now: () => 0,
    })
    solved += Number(finalState.state.right)
  }
  return { success: solved / tasks.length, read: read / calls, fresh: fresh / calls }
}

/** The same with a policy that learned what to keep: before, and after as served. */
async function learned(seed, optimizer) {
  const store = await openMemoryStore()
  const { base, learned: after, decision } = await learn(agentOf(kept, true), {
    model: programModel(says),
    store,
    source: rollouts(environment, tasksOf(seed, { train: 64, validation: 24, holdout: HOLDOUT })),
    reward: rubric({ solved: verifier(({ state }) => Number(state.right)) }),
    credit: leaveOneOut(),
    optimize: { keep: optimizer },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    budget,
    schedule: { updates: UPDATES, tasks: 8, attempts: 4, validateEvery: UPDATES / 2, holdoutTasks: HOLDOUT, patience: null, silentUpdates: 0 },
    check: false,
    seed,
  })
  await store.close()
  return { base: base.success, success: decision === 'promote' ? after.success : base.success }
}

const HOLDOUT = 60
const UPDATES = 12
const kept = { budget: BUDGET, low: 0.8, excerpt: 200 }
const arms = {
  'no budget: the whole transcript': (seed) => fixed(seed, null),
  'plain truncation, a turn at a time': (seed) => fixed(seed, { ...kept, forms: ['dropped'], readBack: false, low: 0.99 }),
  'plain truncation, in steps': (seed) => fixed(seed, { ...kept, forms: ['dropped'], readBack: false, low: 0.5 }),
  'the view, without read_back': (seed) => fixed(seed, { ...kept, readBack: false }),
  'the view': (seed) => fixed(seed, kept),
  'the view, a learned keep policy (thompson)': (seed) => learned(seed, thompson()),
  'the view, a learned keep policy (reinforce)': (seed) => learned(seed, reinforce()),
}

async function keepEvidence() {
  const rows = []
  for (const [name, arm] of Object.entries(arms)) {
    const results = []
    for (const seed of SEEDS) results.push(await arm(seed))
    const mean = (of) => (results[0][of] === undefined ? '' : Math.round(results.reduce((sum, one) => sum + one[of], 0) / results.length))
    rows.push([name, shown(results.map(({ success }) => success)), mean('read'), mean('fresh')])
    console.error(rows.at(-1).join(' | '))
  }
  table(
    `${HOLDOUT} held-out tasks solved, in per cent; mean and 95 % interval over ${SEEDS.length} seeds`,
    ['arm', 'solved', 'tokens a call reads', 'of them not in a prefix cache'],
    rows,
  )
}

async function toolsEvidence() {
  const index = new ToolIndex(tools, lexicalEmbedder())
  const rows = []
  for (const [name, asked] of Object.entries(requests)) {
    const found = { 1: 0, 8: 0, 16: 0 }
    for (const { tool, query } of asked) {
      const best = (await index.best(query, 16)).map(({ name }) => name)
      for (const k of Object.keys(found)) found[k] += Number(best.slice(0, k).includes(tool))
    }
    rows.push([name, ...Object.values(found).map((count) => percent(count / asked.length))])
  }
  rows.push(['by chance', ...[1, 8, 16].map((k) => percent(k / tools.length))])
  table(`The right tool among ${tools.length}, for ${tools.length} requests each`, ['requests in', 'k = 1', 'k = 8', 'k = 16'], rows)
}

if (values.only !== 'tools') await keepEvidence()
if (values.only !== 'keep') await toolsEvidence()
