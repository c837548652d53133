import { z } from 'zod'
import { type Canary, ClientName, type Store } from '../../core/index.ts'
import { hasLearner } from '../../learn/index.ts'
import { type CanaryRules, Registry, versionsByHand } from '../../release/index.ts'
import { textsOf, toolParameter } from '../agents/index.ts'
import { LearnedTool } from '../config.ts'

/** Characters of one text that is tried, at most. */
export const mostTextCharacters = 256 * 1024
const mostTools = 256

const Description = z.string().max(mostTextCharacters)

/** By the tool's name. Looked through up to the first that is wrong: a record would tell an issue for each. */
const Descriptions = z.record(z.string(), z.unknown()).superRefine((tools, context) => {
  const named = Object.entries(tools)
  if (named.length > mostTools) context.addIssue({ code: 'custom', message: `at most ${mostTools} tools` })
  for (const [name, text] of named.slice(0, mostTools)) {
    const wrong = LearnedTool.safeParse(name).error ?? Description.safeParse(text).error
    if (wrong === undefined) continue
    context.addIssue({ code: 'custom', path: [name], message: wrong.issues[0]?.message ?? 'not a description' })
    return
  }
}) as z.ZodType<Record<string, string>>

/** What is to be tried, in the place of what serves. */
export const TryRequest = z.strictObject({
  /** The id of a release, a canary or a run of the agent. */
  from: ClientName.optional(),
  /** A system prompt, in the place of the agent's own. */
  system: z.string().min(1).max(mostTextCharacters).optional(),
  /** Descriptions of tools, in the place of the agent's own. */
  tools: Descriptions.optional(),
})
export type TryRequest = z.infer<typeof TryRequest>

/** What came of starting a candidate by hand. */
export interface Tried {
  readonly canary: Canary
  /** Whether a learner is at work that looks at it: its own mark says so of each canary that has just begun. */
  readonly watched: boolean
  /** Tools that are described and of which what serves says nothing: new ones, or names that were mistyped. */
  readonly newTools: string[]
}

/**
 * Starts the canary of a candidate that a person asks for.
 * @param agent its key.
 * @param gate by whose rules it is judged.
 * @throws what {@link versionsByHand} and {@link Registry.startCanary} do.
 */
export async function tryByHand(
  store: Store,
  agent: string,
  { from, system, tools = {} }: TryRequest,
  { gate, at = Date.now() }: { readonly gate: CanaryRules; readonly at?: number },
): Promise<Tried> {
  const registry = new Registry(store)
  const { release } = await registry.current(agent)
  const versions = await versionsByHand(store, agent, {
    ...(from === undefined ? {} : { from }),
    values: Object.fromEntries(textsOf({ system, tools }).map(({ parameter, value }) => [parameter, value])),
  })
  const canary = await registry.startCanary({ agent, versions, admission: null, run: null, gate, at })
  const newTools = Object.keys(tools).filter((tool) => release.versions[toolParameter(tool)] === undefined)
  return { canary, watched: await hasLearner(store, agent, at), newTools }
}
