import {
  type DemonstratedEpisode,
  isUsers,
  listedValues,
  type Message,
  memberOf,
  type Rng,
  type Task,
  type ToolDefinition,
} from '../../core/index.ts'
import { otherNames, poolOfNames } from './names.ts'
import { otherNumbers, renumbered } from './numbers.ts'
import {
  argumentOf,
  type ArgumentPool,
  argumentsOf,
  chosenIn,
  instructionOf,
  replaced,
  retold,
  standsIn,
} from './retell.ts'
import { wordsOf } from './vocabulary.ts'
import { commonEnglish } from './english.ts'
import { Wording, wordsInUse } from './wording.ts'
import { constantsOf } from './said-numbers.ts'
import { otherWords, poolOfWords, saidEverywhere } from './words.ts'

/**
 * Tells an episode of other things than it was of: other names, and other values where calls copy them (counterfactual
 * data augmentation by entity substitution: Longpre et al. 2021), and in other words. A few episodes then teach to copy what
 * stands there, and not what they say.
 */
export class Augmenter {
  readonly #names: ArgumentPool
  readonly #words: ArgumentPool
  readonly #wording: Wording
  readonly #english = commonEnglish()
  readonly #listed: ReadonlySet<string>
  readonly #constants: ReadonlySet<string>
  readonly #everywhere: ReadonlySet<string>

  /**
   * @param demonstrations and @param train tell which names and words there are.
   * @param tools that are at hand: a value that a schema lists stays.
   */
  constructor(
    demonstrations: readonly DemonstratedEpisode[],
    train: readonly Pick<Task, 'instruction'>[],
    tools: readonly ToolDefinition[] = [],
  ) {
    this.#listed = listedArguments(tools)
    this.#constants = constantsOf(demonstrations)
    this.#names = poolOfNames(demonstrations, train)
    this.#everywhere = saidEverywhere(demonstrations)
    this.#words = poolOfWords(demonstrations, this.#everywhere)
    const said = demonstrations.map(({ messages }) => toldIn(messages)).join('\n')
    const unsaid = (word: string) => !isSaid(word, said)
    this.#wording = new Wording(wordsInUse(train).filter(unsaid), this.#english.filter(unsaid))
  }

  /** Names that episodes can be told of. */
  get names(): number {
    return new Set([...this.#names.values()].flat()).size
  }

  /**
   * The episode's messages told otherwise; `null` where nothing changes.
   * @param share the probability of other names, and of other values; three quarters of it are that of other words in what is asked.
   */
  told(episode: DemonstratedEpisode, share: number, random: Rng): readonly Message[] | null {
    const chosen = chosenIn(episode, this.#listed)
    const coining = { english: this.#english, chosen, everywhere: this.#everywhere }
    const values = random.next() < share
    const words = values ? otherWords(episode, this.#words, coining, random) : []
    const numbers = values ? otherNumbers(episode, random, this.#constants, chosen) : new Map<string, string>()
    const names = random.next() < share ? otherNames(episode, this.#names, coining, random) : []
    // Numbers come first: a name that is put in keeps its own.
    const inText = (text: string) => replaced(renumbered(text, numbers), [...words, ...names])
    const messages = retold(episode.messages, inText)
    const instruction = inText(instructionOf(episode))
    const worded = random.next() < wordedShare * share ? this.#reworded({ instruction, messages }, random) : messages
    return words.length + numbers.size + names.length === 0 && worded === messages ? null : worded
  }

  /** A task that is asked in other words, as episodes are. */
  asked<T extends Pick<Task, 'instruction'>>(task: T, random: Rng): T {
    return { ...task, instruction: this.#wording.asked(task.instruction, random) }
  }

  /** A conversation's messages with the instruction in other words: names stay, and what tools or calls say. */
  #reworded({ instruction, messages }: Conversation, random: Rng): readonly Message[] {
    const said = toldIn(messages)
    const words = wordsOf(instruction).filter((word) => isSaid(word, said))
    const names = messages.flatMap(argumentsOf).map(({ text }) => text)
    const others = [...this.#names.values()].flat().filter((name) => instruction.includes(name))
    const worded = this.#wording.disturbed(instruction, { names: [...names, ...others], words }, random)
    if (worded === instruction) return messages
    return messages.map((message) =>
      isUsers(message) ? { ...message, content: message.content.replace(instruction, () => worded) } : message,
    )
  }
}

/** The share of the episodes told of other things that are asked in other words. */
const wordedShare = 0.75

/** The arguments whose values a schema lists. */
const listedArguments = (tools: readonly ToolDefinition[]): ReadonlySet<string> =>
  new Set(
    tools.flatMap((tool) => {
      const names = Object.keys(memberOf(tool.parameters, 'properties') ?? {})
      return names.filter((name) => isListed(tool, name)).map((name) => argumentOf(tool.name, name))
    }),
  )

/** Whether a schema lists the values of an argument, or of the items of a list. */
function isListed(tool: ToolDefinition, name: string): boolean {
  const items = memberOf(memberOf(memberOf(tool.parameters, 'properties'), name), 'items')
  return listedValues(tool, name).length > 0 || memberOf(items, 'enum') !== undefined
}

/** What was said about an instruction. */
interface Conversation {
  readonly instruction: string
  readonly messages: readonly Message[]
}

/** What tools say and calls are given, in small letters. */
const toldIn = (messages: readonly Message[]): string =>
  messages
    .filter(({ role }) => role !== 'user')
    .flatMap((message) => [message.content, ...argumentsOf(message).map(({ text }) => text)])
    .join('\n')
    .toLowerCase()

/** Whether a word stands in what was said; a longer one as a part of others, too: of a name, say. */
const isSaid = (word: string, said: string): boolean =>
  word.length < long ? standsIn(word.toLowerCase(), said) : said.includes(word.toLowerCase())
const long = 4
