import { contentHash, rng } from '../../dist/core/index.js'
import { runInSandbox } from '../../dist/environment/index.js'
import { codeOf, hiddenInputs, mistaken, plainInput, taskOf, wordsOf } from './programs.mjs'

const fence = '```'
const ran = new Map()

/** What a program gives for each input, run in the sandbox; a program that was run on the same inputs is not run again. */
async function outputsOf(program, inputs) {
  // Comments and names of steps change nothing of what a program does.
  const code = codeOf(program)
  const key = contentHash([code, inputs])
  if (!ran.has(key)) {
    const all = `${code}\nfunction all(inputs) { return inputs.map((xs) => solve(xs)) }`
    const outcome = await runInSandbox(all, { call: { name: 'all', args: [inputs] }, thread: 'kept' })
    if (outcome.kind !== 'returned') throw new Error(`A program did not return: ${JSON.stringify(outcome)}\n${code}`)
    ran.set(key, outcome.value)
  }
  return ran.get(key)
}

const testsOf = (inputs, outputs) => inputs.map((xs, i) => ({ call: 'solve', args: [xs], returns: outputs[i] }))

/**
 * A task with its attempts, as trajectories. Half of the authors take care: fewer mistakes, and mostly a line for each step, a
 * comment, no hedging. `passed` is the truth, by hidden tests; `visible` the tests that are known before.
 * @param tests which tests are known: `plain` (two inputs that a user would think of), `idle` (the one that the most programs
 * pass), `wrong` (as plain, but in every second task one output is that of a program with mistakes).
 * @param reversed whether it is the careless ones who write as the careful do elsewhere.
 */
export async function attemptsAt(seed, name, count, { tests = 'plain', reversed = false } = {}) {
  const random = rng('hybrid-task', seed, name)
  const right = taskOf(random)
  const instruction = wordsOf(right)
  const plain = [plainInput(random), plainInput(random)]
  const inputs = [...plain, ...hiddenInputs(random, right)]
  const made = Array.from({ length: count }, (_, attempt) =>
    authored(rng('hybrid-attempt', seed, name, attempt), right, reversed),
  )
  const expected = await outputsOf(right, inputs)
  const given = []
  for (const { program } of made) given.push(await outputsOf(program, inputs))
  const equal = (a, b) => JSON.stringify(a) === JSON.stringify(b)
  const share = (i) => given.filter((outputs) => equal(outputs[i], expected[i])).length

  let known = [0, 1]
  const told = [...expected]
  if (tests === 'idle') known = [inputs.map((_, i) => i).toSorted((a, b) => share(b) - share(a))[0]]
  if (tests === 'wrong' && random.int(2) === 0) {
    for (let i = 0; i < 50 && equal(told[0], expected[0]); i++) {
      told[0] = (await outputsOf(mistaken(random, right, 2), inputs))[0]
    }
  }
  const visible = testsOf(
    known.map((i) => inputs[i]),
    known.map((i) => told[i]),
  )
  return made.map(({ text }, attempt) => ({
    passed: given[attempt].every((output, i) => equal(output, expected[i])),
    ran: known.filter((i) => equal(given[attempt][i], told[i])).length / known.length,
    trajectory: trajectoryOf({ task: `${seed}/${name}`, attempt, instruction, text, state: { visible } }),
  }))
}

function authored(random, right, reversed) {
  const careful = random.next() < 0.5
  const mistakes = random.next() < (careful ? 0.3 : 0.05) ? 0 : 1 + random.int(careful ? 2 : 3)
  const program = mistaken(random, right, mistakes)
  const looks = careful !== reversed
  const named = random.next() < (looks ? 0.7 : 0.35)
  const commented = random.next() < (looks ? 0.7 : 0.3)
  const hedged = random.next() < (looks ? 0.2 : 0.5)
  const code = codeOf(program, { named, commented })
  return { program, text: `${hedged ? 'This should work:\n' : ''}${fence}js\n${code}\n${fence}` }
}

const trajectoryOf = ({ task, attempt, instruction, text, state }) => ({
  id: `${task}/${attempt}`,
  origin: { kind: 'rollout' },
  toolsets: {},
  task: { id: task, instruction, split: 'train' },
  group: task,
  attempt,
  seed: attempt,
  nodes: [
    { id: 'q', parent: null, spans: [], message: { role: 'user', content: instruction } },
    { id: 'a', parent: 'q', spans: [], message: { role: 'assistant', content: text } },
  ],
  steps: [],
  decisions: [],
  stopReason: 'done',
  failure: null,
  finalState: { state, counts: {} },
  startedAt: 0,
  seconds: 0,
})
