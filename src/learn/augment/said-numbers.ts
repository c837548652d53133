import type { DemonstratedEpisode, Message } from '../../core/index.ts'
import { argumentsOf, instructionOf } from './retell.ts'

/** A number's digits. */
export const digits = /\d+/g
/** 0 and 1 often mean none and one, and stay. */
export const least = 2

/** The numbers that tools say, each once. */
export const saidByTools = ({ messages }: DemonstratedEpisode): ReadonlySet<string> =>
  new Set(messages.flatMap(({ role, content }) => (role === 'tool' ? (content.match(digits) ?? []) : [])))

/** The numbers in what is asked, and in what an agent is told before. */
export function askedIn(episode: DemonstratedEpisode): ReadonlySet<string> {
  const told = episode.messages.flatMap(({ role, content }) =>
    role === 'user' || role === 'system' ? (content.match(digits) ?? []) : [],
  )
  return new Set([...(instructionOf(episode).match(digits) ?? []), ...told])
}

/** Numbers of two digits or more that the agent says and nobody told it before: computed ones, or constants. */
export function untoldIn(episode: DemonstratedEpisode): ReadonlySet<string> {
  const known = new Set(askedIn(episode))
  const untold = new Set<string>()
  for (const message of episode.messages) {
    for (const number of numbersIn(message)) {
      if (message.role === 'assistant' && number.length > 1 && !known.has(number)) untold.add(number)
      known.add(number)
    }
  }
  return untold
}

/** Fewer episodes, and a smaller share, can come to one number by chance. */
const fewest = 4
const leastShare = 0.25

/** Untold numbers that many episodes say: by a rule, as the hour that `afternoon` stands for. */
export function constantsOf(episodes: readonly DemonstratedEpisode[]): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const number of episodes.flatMap((one) => [...untoldIn(one)])) counts.set(number, (counts.get(number) ?? 0) + 1)
  const enough = Math.max(fewest, leastShare * episodes.length)
  return new Set([...counts].flatMap(([number, count]) => (count >= enough ? [number] : [])))
}

/** Whether a call is given a number that is not whole: a text can write it in more than one way. */
export const givesFraction = ({ messages }: DemonstratedEpisode): boolean =>
  messages.flatMap(argumentsOf).some(({ text, isNumber }) => isNumber && !/^-?\d+$/.test(text))

/** Whether the agent says a number of one digit beside others, or gives a call one: as a page, or how many. */
export function mayCount(message: Message): boolean {
  if (message.role !== 'assistant') return false
  const given = argumentsOf(message)
  const isCount = (number: string) => number.length === 1 && Number(number) >= least
  if (given.some(({ text, isNumber }) => isNumber && isCount(text))) return true
  return [message.content, ...given.map(({ text }) => text)].some((text) => {
    const numbers = text.match(digits) ?? []
    return numbers.length > 1 && numbers.some(isCount)
  })
}

const numbersIn = (message: Message): readonly string[] =>
  [message.content, ...argumentsOf(message).map(({ text }) => text)].flatMap((text) => text.match(digits) ?? [])
