/**
 * Jobs that cannot be learned: what each says, and after how long. One JSON object a line.
 *
 *     npx tsc -b && node scripts/unlearnable-jobs.mjs [--jobs noisy-reward,hidden-answer] [--seed 0] [--verbose]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brokenCalls, learn, openStore, repetition, rng, rollouts, rubric, verifier } from '../dist/index.js'
import { openEmbeddedModel } from '../dist/model/index.js'
import { agentOf, demonstrationsOf, reference, worlds } from './worlds.mjs'

/** What each job does to a world that can be learned. `random` is the job's own chance. */
const jobs = {
  'unreadable-documents': {
    world: 'catalog',
    of: (world) => seen(world, 'open', scrambled),
  },
  'empty-observations': {
    world: 'desk',
    of: (world) => seen(world, null, () => ''),
  },
  'huge-observations': {
    world: 'catalog',
    of: (world) => seen(world, 'open', (text) => `${text}\n${'lorem '.repeat(170_000)}`),
  },
  'hidden-answer': {
    world: 'catalog',
    of: (world) => seen(world, 'open', (text) => text.split('\n')[0] ?? ''),
  },
  'names-out-of-reach': { world: 'catalog', of: (world) => renamed(world) },
  'noisy-reward': { world: 'desk', of: (world, random) => ({ ...world, check: () => (random.next() < 0.5 ? 1 : 0) }) },
  'always-yes': { world: 'desk', of: (world) => ({ ...world, check: () => 1 }) },
  'always-no': { world: 'desk', of: (world) => ({ ...world, check: () => 0 }) },
  'contradicting-demonstrations': {
    world: 'catalog',
    of: (world, random) => ({ ...world, demonstrated: (plays) => contradicting(plays, random) }),
  },
  'unknown-tools': {
    world: 'desk',
    of: (world) => ({ ...world, demonstrated: (plays) => plays.map(withOtherTools) }),
  },
  'endless-demonstrations': {
    world: 'desk',
    of: (world) => ({
      ...world,
      demonstrated: (plays) => plays.map((one) => ({ ...one, messages: one.messages.slice(0, -2) })),
    }),
  },
  'one-demonstration': { world: 'desk', demonstrations: 1, of: (world) => world },
}

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: Object.keys(jobs).join(',') },
    seed: { type: 'string', default: '0' },
    verbose: { type: 'boolean', default: false },
  },
})

/** A world whose tools say something else, in demonstrations as well; `tool` says which one, `null` all. */
function seen(world, tool, said) {
  const told = (message) => {
    const changes = message.role === 'tool' && !message.isError && (tool === null || message.name === tool)
    return changes ? { ...message, content: said(message.content) } : message
  }
  return {
    ...world,
    environment: {
      name: world.environment.name,
      async open(task, seed) {
        const episode = await world.environment.open(task, seed)
        return {
          opening: episode.opening,
          tools: episode.tools,
          async step(action) {
            const { messages, done } = await episode.step(action)
            return { messages: messages.map(told), done }
          },
          close: () => episode.close(),
        }
      },
    },
    demonstrated: (plays) => plays.map((one) => ({ ...one, messages: one.messages.map(told) })),
  }
}

/** Every letter and digit becomes another by what stands before it: nothing can be copied from it. */
const scrambled = (text) => {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
  let sum = 7
  return Array.from(text.toLowerCase())
    .map((letter) => {
      const at = letters.indexOf(letter)
      if (at < 0) return letter
      sum = (sum * 31 + at + 11) % 9973
      return letters[sum % letters.length]
    })
    .join('')
}

/** Names that the model's tokenizer cuts into single bytes, in tasks, calls and documents. */
function renamed(world) {
  const shift = (text, from, to) =>
    Array.from(text)
      .map((letter) => to[from.indexOf(letter)] ?? letter)
      .join('')
  const plain = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
  const rare = Array.from('ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊႠႡႢႣႤႥႦႧႨႩႪႫႬႭႮႯႰႱႲႳႴႵႶႷႸႹ')
  const there = (text) => shift(text, Array.from(plain), rare)
  const back = (text) => shift(text, rare, Array.from(plain))
  const parts = new Set(
    Object.values(world.tasks)
      .flat()
      .map(({ data }) => data.question?.part)
      .filter((part) => part !== undefined),
  )
  const outward = (text) => [...parts].reduce((told, part) => told.replaceAll(part, there(part)), text)
  const told = (task) => ({ ...task, instruction: outward(task.instruction) })
  return {
    ...world,
    tasks: Object.fromEntries(Object.entries(world.tasks).map(([split, tasks]) => [split, tasks.map(told)])),
    environment: {
      name: world.environment.name,
      async open(task, seed) {
        const episode = await world.environment.open({ ...task, instruction: back(task.instruction) }, seed)
        return {
          opening: episode.opening.map((one) => ({ ...one, content: outward(one.content) })),
          tools: episode.tools,
          async step(action) {
            const inner =
              action.kind === 'message'
                ? action
                : {
                    ...action,
                    calls: action.calls.map((one) => ({
                      ...one,
                      arguments: Object.fromEntries(
                        Object.entries(one.arguments).map(([key, text]) => [
                          key,
                          typeof text === 'string' ? back(text) : text,
                        ]),
                      ),
                    })),
                  }
            const { messages, done } = await episode.step(inner)
            return { messages: messages.map((one) => ({ ...one, content: outward(one.content) })), done }
          },
          close: () => episode.close(),
        }
      },
    },
    demonstrated: (plays) =>
      plays.map((one) => ({
        ...one,
        messages: one.messages.map((message) => toldCall({ ...message, content: outward(message.content) }, outward)),
      })),
  }
}

const toldCall = (message, outward) =>
  message.toolCalls === undefined
    ? message
    : {
        ...message,
        toolCalls: message.toolCalls.map((one) => ({
          ...one,
          arguments: Object.fromEntries(
            Object.entries(one.arguments).map(([key, text]) => [key, outward(String(text))]),
          ),
        })),
      }

/** Every other one answers what another of them answers. */
function contradicting(plays, random) {
  const answers = random.shuffle(
    plays.map(({ messages }) => messages.findLast(({ toolCalls }) => toolCalls)?.toolCalls),
  )
  return plays.map((one, i) =>
    i % 2 === 0
      ? one
      : {
          ...one,
          messages: one.messages.map((message) =>
            isAnswer(message) ? { ...message, toolCalls: answers[i] } : message,
          ),
        },
  )
}
const isAnswer = ({ toolCalls }) => toolCalls?.[0]?.name === 'answer'

const withOtherTools = (one) => ({
  ...one,
  messages: one.messages.map((message) =>
    message.toolCalls
      ? { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, name: `old_${call.name}` })) }
      : message,
  ),
})

async function run(name, seed) {
  const { world: worldName, of, demonstrations: count = 32 } = jobs[name]
  const opened = await openEmbeddedModel({ reference, renderer: 'compact', precision: 'auto' })
  const folder = await mkdtemp(join(tmpdir(), 'ratchet-unlearnable-'))
  const store = await openStore({ path: join(folder, 'ratchet.db') })
  const events = []
  const began = Date.now()
  const told = (what) => {
    const ofType = (type) => events.filter((event) => event.type === type)
    return {
      job: name,
      seed,
      seconds: (Date.now() - began) / 1000,
      passes: ofType('primed').length,
      updates: ofType('updated').length,
      ...what,
    }
  }
  try {
    const original = worlds[worldName]((text) => opened.countTokens(text))
    const world = of(original, rng(name, seed))
    const { environment, tasks, check, demonstrated = (plays) => plays } = world
    // The expert plays in the world as it was; what it saw is told as the agent will see it.
    const asItWas = { ...world, environment: original.environment, check: original.check }
    const played = await demonstrationsOf(asItWas, { count, seed })
    const summary = await learn(agentOf(name), {
      model: opened.service,
      store,
      source: rollouts(environment, [...tasks.train, ...tasks.validation, ...tasks.holdout]),
      prime: { demonstrations: demonstrated(played) },
      reward: rubric({ solved: verifier(check) }, { guards: [brokenCalls(), repetition()] }),
      seed,
      onEvent: (event) => {
        if (event.type === 'progress') return
        events.push(event)
        if (values.verbose) console.log(JSON.stringify(event))
      },
    })
    return told({ decision: summary.decision, learned: summary.learned, primed: summary.primed })
  } catch (error) {
    return told({
      code: error.code ?? null,
      message: error.message,
      hint: error.hint,
      stack: error.code ? undefined : error.stack,
    })
  } finally {
    await store.close()
    await opened.service.close()
    await rm(folder, { recursive: true, force: true })
  }
}

for (const name of values.jobs.split(',')) console.log(JSON.stringify(await run(name, Number(values.seed))))
process.exit(0)
