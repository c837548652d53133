import { z } from 'zod'
import { ClientName, type VersionSet } from '../../core/index.ts'
import { toolParameter } from '../agents/index.ts'
import { LearnedTool } from '../config.ts'
import type { MadeByHand } from '../../release/index.ts'

/** Characters of one text that is tried, at most. */
export const mostTextCharacters = 256 * 1024
const mostTools = 256

/** What is to be tried, in the place of what serves. */
export const TryRequest = z.strictObject({
  /** The id of a release, a canary or a run of the agent. */
  from: ClientName.optional(),
  /** A system prompt, in the place of the agent's own. */
  system: z.string().min(1).max(mostTextCharacters).optional(),
  /** Descriptions of tools, in the place of the agent's own. */
  tools: z
    .record(LearnedTool, z.string().max(mostTextCharacters))
    .refine((tools) => Object.keys(tools).length <= mostTools, `at most ${mostTools} tools`)
    .optional(),
})
export type TryRequest = z.infer<typeof TryRequest>

/** Tools that are described and of which `serving` says nothing: new ones, or names that were mistyped. */
export function newTools({ tools = {} }: TryRequest, serving: VersionSet): readonly string[] {
  return Object.keys(tools).filter((tool) => serving[toolParameter(tool)] === undefined)
}

/** The candidate that it asks for. */
export function madeByHand({ from, system, tools = {} }: TryRequest): MadeByHand {
  const described = Object.entries(tools).map(([tool, text]) => [toolParameter(tool), text])
  return {
    ...(from === undefined ? {} : { from }),
    texts: { ...(system === undefined ? {} : { system }), ...Object.fromEntries(described) },
  }
}
