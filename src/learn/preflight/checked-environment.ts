import { inspect } from 'node:util'
import { z } from 'zod'
import { type Environment, type Episode, Message, printable } from '../../core/index.ts'
import { LearnError } from '../errors.ts'

/** What an environment has to say for itself: enough of its answers' shape to go on with. */
const Opened = z.object({ opening: z.array(Message), tools: z.array(z.looseObject({ name: z.string() })) })
const Stepped = z.object({
  messages: z.array(Message),
  done: z.boolean(),
  reward: z.number().nullable().exactOptional(),
})
const Closed = z.object({ state: z.unknown(), counts: z.record(z.string(), z.number()) })

/**
 * An environment whose answers are waited for so long and no longer, and have the shape that they must have: one written
 * without types can return nothing at all. Each of its calls throws a LearnError where that does not hold, and whatever
 * the environment throws.
 * @param seconds for each call.
 */
export function checkedEnvironment(environment: Environment, seconds: number): Environment {
  return {
    name: environment.name,
    async open(task, seed, signal) {
      const episode = await within(seconds, 'open', (late) => environment.open(task, seed, either(late, signal)))
      const { opening } = shaped(Opened, episode, 'open')
      return checkedEpisode(episode, opening, seconds)
    },
  }
}

function checkedEpisode(episode: Episode, opening: readonly Message[], seconds: number): Episode {
  const fork = episode.fork?.bind(episode)
  return {
    opening,
    tools: episode.tools,
    ...(fork && { fork: () => checkedEpisode(fork(), opening, seconds) }),
    step: async (action, signal) =>
      shaped(Stepped, await within(seconds, 'step', (late) => episode.step(action, either(late, signal))), 'step'),
    close: async () => {
      const finalState = await within(seconds, 'close', () => episode.close())
      shaped(Closed, finalState, 'close')
      return finalState
    },
  }
}

const either = (late: AbortSignal, signal: AbortSignal | undefined) =>
  signal === undefined ? late : AbortSignal.any([late, signal])

function shaped<S extends z.ZodType>(schema: S, value: unknown, call: string): z.output<S> {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const where = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.map(String).join('.')})`
  throw new LearnError({
    code: 'learn/bad-environment',
    message: `${call} returned ${printable(inspect(value, { depth: 0, maxStringLength: 40 }))}, which is not what it must return${where}.`,
    hint: 'See the interface Environment.',
  })
}

/** Milliseconds: a longer timer fires at once. */
const longestTimer = 2 ** 31 - 1

/**
 * Waits so long and no longer; without end where that is more than a timer can count.
 * @param call names what is waited for.
 * @param work gets a signal that fires when time is up.
 * @throws LearnError when time is up, and whatever `work` throws.
 */
export async function within<T>(
  seconds: number,
  call: string,
  work: (late: AbortSignal) => Promise<T> | T,
): Promise<T> {
  if (seconds * 1000 > longestTimer) return work(new AbortController().signal)
  let timer: NodeJS.Timeout | undefined
  const over = new AbortController()
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `${call} did not return within ${seconds} s.`
      const error = new LearnError({
        code: 'learn/slow-environment',
        message,
        hint: 'See whether it waits for something.',
      })
      reject(error)
      over.abort(error)
    }, seconds * 1000)
  })
  try {
    return await Promise.race([Promise.resolve().then(() => work(over.signal)), late])
  } finally {
    clearTimeout(timer)
  }
}

/** What was thrown, on one line, cut. */
export const thrown = (error: unknown): string =>
  printable(error instanceof Error ? error.message : inspect(error, { depth: 0 }), 160)
