import { z } from 'zod'
import { nearestName } from '../../core/index.ts'
import type { BuiltIn } from './built-in.ts'
import type { ToolMessage } from './form.ts'

export const readBackName = 'read_back'

const Given = z.object({ id: z.string().max(64), from: z.coerce.number().int().nonnegative().optional() })

/**
 * The tool by which the policy reads again what was folded, in parts where it is long.
 * @param resultsNow all tool results so far, by their names.
 * @param most characters of a result that one call may show, ≥ 2.
 */
export function readBack(
  resultsNow: () => ReadonlyMap<string, ToolMessage>,
  most: (result: ToolMessage) => number,
): BuiltIn {
  return {
    definition: {
      name: readBackName,
      description:
        'Shows a tool result again that was left out of this conversation, by the name that stands in its place, such as r3. A long one is shown in parts.',
      parameters: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'The name of the result.' },
          from: { type: 'integer', description: 'The character to begin at; 0 if absent.' },
        },
        required: ['id'],
        additionalProperties: false,
      },
    },
    answer(given) {
      const read = Given.safeParse(given)
      if (!read.success) return { content: `${readBackName} takes the name of a result, such as r3`, isError: true }
      const { id, from = 0 } = read.data
      const results = resultsNow()
      const result = results.get(id)
      if (!result) return { content: unknown(id, [...results.keys()]), isError: true }
      const { content } = result
      const to = endOf(content, from, Math.max(2, Math.floor(most(result))))
      if (from === 0 && to === content.length) return { content }
      if (from >= content.length && content !== '')
        return { content: `${id} has ${content.length} characters: there is none at ${from}`, isError: true }
      const rest = to < content.length ? `; go on from ${to}` : ''
      return { content: `[${id}, characters ${from} to ${to} of ${content.length}${rest}]\n${content.slice(from, to)}` }
    },
  }
}

/** Where a part of at most so many characters ends: within none. */
function endOf(text: string, from: number, most: number): number {
  const to = Math.min(text.length, from + most)
  return /^[\udc00-\udfff]$/.test(text[to] ?? '') ? to - 1 : to
}

function unknown(id: string, known: readonly string[]): string {
  if (known.length === 0) return 'there is no result yet'
  const meant = nearestName(id, known)
  return `there is no result of this name${meant ? `; did you mean ${meant}?` : ''}: they are ${known[0]} to ${known.at(-1)}`
}
