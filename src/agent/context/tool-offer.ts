import { z } from 'zod'
import type { Embedder, Message, ToolDefinition } from '../../core/index.ts'
import type { BuiltIn } from './built-in.ts'
import { ToolIndex } from './tool-index.ts'

export const findToolsName = 'find_tools'

/** Which of many tools are offered. */
export interface ToolRetrieval {
  /** Tools that are offered beside those of `always`, ≥ 1. */
  readonly offer: number
  /** Names of tools that are always offered. */
  readonly always: readonly string[]
}

/** What is offered at the opening, for as long as the conversation lasts. */
export interface ToolOffer {
  readonly offered: readonly ToolDefinition[]
  /** Finds the others; `null` where all are offered. */
  readonly find: BuiltIn | null
}

/** Characters of one definition that `find_tools` shows. */
const mostShown = 2_000

const Given = z.object({ query: z.string().max(1_000) })

/**
 * Offers the tools that fit what is asked, in their own order. The prompt that they stand in never changes: what
 * `find_tools` finds is shown as its result, and can be called like any other.
 */
export async function offerOf(
  tools: readonly ToolDefinition[],
  opening: readonly Message[],
  { offer, always }: ToolRetrieval,
  embedder: Embedder,
): Promise<ToolOffer> {
  const others = tools.filter(({ name }) => !always.includes(name))
  if (others.length <= offer) return { offered: tools, find: null }
  const index = new ToolIndex(others, embedder)
  const asked = opening.flatMap(({ role, content }) => (role === 'user' ? [content] : [])).join('\n')
  const chosen = new Set(await index.best(asked, offer))
  const offered = tools.filter((tool) => chosen.has(tool) || always.includes(tool.name))
  return { offered, find: findTools(index, offer, others.length) }
}

function findTools(index: ToolIndex, count: number, among: number): BuiltIn {
  return {
    definition: {
      name: findToolsName,
      description: `Finds more tools by what they do, among ${among}. What it shows can be called.`,
      parameters: {
        type: 'object',
        properties: { query: { type: 'string', description: 'What the tool should do.' } },
        required: ['query'],
        additionalProperties: false,
      },
    },
    async answer(given) {
      const read = Given.safeParse(given)
      if (!read.success || read.data.query.trim() === '')
        return { content: `${findToolsName} takes a query: what the tool should do, in a sentence`, isError: true }
      const found = await index.best(read.data.query, count)
      return { content: found.map(shown).join('\n') }
    },
  }
}

const shown = ({ name, description, parameters }: ToolDefinition): string =>
  `${name}: ${description} ${JSON.stringify(parameters)}`.slice(0, mostShown)
