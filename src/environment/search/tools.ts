import { type ReadString, StringTools } from '../string-tools.ts'

/** Longest argument a tool takes, in UTF-16 code units: titles and answers are shorter, and work per call stays bounded. */
export const maxArgumentLength = 256

const tools = new StringTools(
  {
    search: { does: 'Lists the documents that match best.', takes: 'query' },
    open: { does: 'Shows a document that a search has listed.', takes: 'title' },
    answer: { does: 'Gives the answer and ends the episode.', takes: 'text' },
  },
  maxArgumentLength,
)

/** The tools of a search episode: each takes one string. */
export type ToolName = 'search' | 'open' | 'answer'

/** As the policy sees them. */
export const searchTools = tools.definitions

export function isToolName(name: string): name is ToolName {
  return tools.has(name)
}

/** The one argument of a call, without white space at its ends, or what is wrong with it in words that teach. */
export function readArgument(tool: ToolName, given: unknown): ReadString {
  return tools.read(tool, given)
}
