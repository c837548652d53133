import { z } from 'zod'
import { contentHash, Json, parseInput } from '../../core/index.ts'
import { runInSandbox, type SandboxOutcome } from '../../environment/index.ts'
import { RewardError } from '../errors.ts'
import type { RewardPart } from '../part.ts'
import { answerOf, AnswerReading, asWords, Expected, expectedOf } from './reading.ts'

/** A test of code: what a function must return. Tests stay outside the sandbox: code cannot read or change them. */
export const CodeTest = z.strictObject({ call: z.string().min(1), args: z.array(Json).default([]), returns: Json })
export type CodeTest = z.infer<typeof CodeTest>

const TestOptions = AnswerReading.extend({
  /** A list of {@link CodeTest}s, at least one, and at most 100. */
  tests: Expected,
  /** The share of tests that pass, instead of all or nothing. Default no. */
  partial: z.boolean().default(false),
  /** Of one test. Default: the sandbox's. */
  limits: z
    .strictObject({
      steps: z.number().positive().optional(),
      memoryBytes: z.int().optional(),
      deadlineMs: z.number().positive().optional(),
    })
    .default({}),
})

const Tests = z.array(CodeTest).min(1).max(100)

/** JavaScript between the fences of Markdown, where there are any; else the whole text. */
export function codeIn(answer: string): string {
  const fenced = answer.split(/^```[^\n]*$/m).filter((_, i) => i % 2 === 1)
  return fenced.length > 0 ? fenced.join('\n') : answer
}

/**
 * A part that runs the JavaScript of an answer in a sandbox, once for each test: 1 where all pass, else 0, or with
 * `partial` the share that does. Code that throws, loops or fills its memory fails the test. `null` where no tests are
 * known, and where the machine was too busy to tell.
 * @throws InputError for options that it does not know; RewardError, when it scores, for tests that are none.
 */
export function testsPass(options: z.input<typeof TestOptions>): RewardPart {
  const reading = parseInput(TestOptions, options, 'The verifier by tests')
  const limits = Object.fromEntries(Object.entries(reading.limits).filter(([, value]) => value !== undefined))
  return {
    identity: `tests:${JSON.stringify(reading)}`,
    async score(trajectory) {
      const given = expectedOf(trajectory, reading.tests)
      const answer = answerOf(trajectory, reading)
      if (given === undefined || given === null || answer === null) return null
      const tests = testsIn(given)
      const code = codeIn(asWords(answer))
      let passed = 0
      for (const { call, args, returns } of tests) {
        const outcome = await runInSandbox(code, { ...limits, call: { name: call, args } })
        if (outcome.kind === 'deadline' && outcome.starved) return null
        if (returned(outcome, returns)) passed += 1
        else if (!reading.partial) return 0
      }
      return passed / tests.length
    },
  }
}

function testsIn(given: Json): readonly CodeTest[] {
  const tests = Tests.safeParse(given)
  if (tests.success) return tests.data
  throw new RewardError({
    code: 'reward/bad-tests',
    message: `The tests of the code are none: ${z.prettifyError(tests.error)}`,
    hint: 'Give a list of 1 to 100 tests such as { "call": "add", "args": [1, 2], "returns": 3 }.',
  })
}

/** Compared here, by value and whatever the order of keys: not where the code runs. */
const returned = (outcome: SandboxOutcome, value: Json): boolean =>
  outcome.kind === 'returned' && contentHash(outcome.value) === contentHash(value)
