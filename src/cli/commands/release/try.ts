import { readFile, stat } from 'node:fs/promises'
import pc from 'picocolors'
import { parseInput, visible } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import { mostTextCharacters, ServeConfig, tryByHand, TryRequest } from '../../../gateway/index.ts'
import { percentOf, shownCanary } from '../../../release/index.ts'
import { canaryRules, noCanaryRules } from '../../learning/canary-rules.ts'
import { readConfig } from '../../read-config.ts'
import { gatewayConfig } from '../../setup/gateway-config.ts'
import { storeArgument } from '../../with-store.ts'
import { type Changed, changeServing, type ChangeFlags } from './change-serving.ts'
import { printOutcome } from './print-outcome.ts'

export interface TryFlags extends ChangeFlags {
  /** File of a system prompt. */
  readonly system?: string
  /** `NAME=FILE` each: the description of a tool. */
  readonly tool?: readonly string[]
  /** The gateway's configuration, whose section `learn` has the rules: where no gateway has the store. */
  readonly config?: string
}

/**
 * `ratchet try [ID]`: lets a share of the sessions get a candidate that a person put together, by the rules of the agent's
 * own canaries: the versions of an earlier release, canary or run, texts from files, or both.
 */
export async function tryCommand(from: string | undefined, flags: TryFlags): Promise<void> {
  const tools: Record<string, string> = {}
  for (const given of flags.tool ?? []) {
    const [name, file] = namedFile(given)
    tools[name] = await textOf(file)
  }
  const asked = {
    ...(from === undefined ? {} : { from }),
    ...(flags.system === undefined ? {} : { system: await textOf(flags.system) }),
    ...(flags.tool ? { tools } : {}),
  }
  const request = parseInput(TryRequest, asked, 'What is to be tried')
  const outcome = await changeServing(flags, {
    command: 'ratchet try …',
    direct: async (_registry, agent, store) => {
      const gate = canaryRules(await readConfig(ServeConfig, gatewayConfig(flags.config), 'docs/gateway.md'))(agent)
      if (!gate) throw noCanaryRules(agent)
      const { canary, ...told } = await tryByHand(store, agent, request, { gate })
      return { canary: shownCanary(canary), ...told }
    },
    route: 'try',
    body: request,
  })
  printOutcome(flags, outcome, (changed) => linesOf(changed, storeArgument(flags)))
}

function linesOf({ agent: { agent, serving }, canary, watched, newTools = [] }: Changed, store: string): string {
  const name = visible(agent)
  const share = percentOf(canary?.share ?? 0)
  const problems = newTools.map((tool) => {
    return `The release of ${name} describes no tool ${visible(tool)}. Unless clients send one, both arms are the same.`
  })
  if (!watched) {
    problems.push(
      `No learner of ${name} is running, so nobody watches the canary and soon nobody gets the candidate. Start a gateway with the agent's section "learn", or \`ratchet learn --agent\`.`,
    )
  }
  return [
    `${pc.green('✓')} The canary ${canary?.id} of ${name} runs: ${share} of the sessions get the candidate, the others ${serving}.`,
    `  Watch it: npx ratchet canaries${store}   End it: npx ratchet rollback${store}`,
    ...problems.map((problem) => `  ${pc.yellow(problem)}`),
  ].join('\n')
}

/** @throws InputError for anything but `NAME=FILE`. */
function namedFile(given: string): readonly [name: string, file: string] {
  const at = given.indexOf('=')
  if (at > 0 && at < given.length - 1) return [given.slice(0, at), given.slice(at + 1)]
  throw new InputError({
    code: 'input/invalid',
    message: `"${given}" names no tool and no file.`,
    hint: 'Give the tool and the file with its description, as in --tool search=search.txt.',
  })
}

/** A text from a file, without the line break that editors put at its end. @throws InputError */
async function textOf(file: string): Promise<string> {
  const unreadable = (why: string, cause?: unknown) =>
    new InputError({
      code: 'input/unreadable-text',
      message: `The file ${file} ${why}.`,
      hint: `Give a text file of at most ${mostTextCharacters} bytes.`,
      ...(cause === undefined ? {} : { cause }),
    })
  let text: string
  try {
    const { size } = await stat(file)
    if (size > mostTextCharacters) throw unreadable('is too large')
    text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
  } catch (cause) {
    if (cause instanceof InputError) throw cause
    throw unreadable('cannot be read as text', cause)
  }
  return text.replace(/\r?\n$/, '')
}
