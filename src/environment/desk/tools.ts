import type { ToolDefinition } from '../../core/index.ts'
import { DeskAct } from './books.ts'

/** Longest argument a tool takes, in UTF-16 code units: names and ids are shorter. */
const maxArgumentLength = 64

/** The one parameter of each tool, a string; `done` has none. */
const parameterOf = {
  customer: 'name',
  order: 'id',
  item: 'name',
  cancel: 'id',
  refund: 'id',
  replace: 'id',
  return: 'id',
  escalate: 'id',
  done: null,
} as const

/** The tools of a desk episode. */
export type DeskToolName = keyof typeof parameterOf

/** As the policy sees them. They say what a tool does, never when it is right. */
export const deskTools: readonly ToolDefinition[] = [
  tool('customer', 'Lists the orders of a customer.'),
  tool('order', 'Shows an order.'),
  tool('item', 'Shows the price class and stock of an item.'),
  tool('cancel', 'Stops an order and pays it back.'),
  tool('refund', 'Pays an order back.'),
  tool('replace', 'Sends what was ordered once more.'),
  tool('return', 'Asks the customer to send an order back.'),
  tool('escalate', 'Hands an order to a person.'),
  tool('done', 'Ends the episode.'),
]

function tool(name: DeskToolName, description: string): ToolDefinition {
  const parameter = parameterOf[name]
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: parameter === null ? {} : { [parameter]: { type: 'string' } },
      required: parameter === null ? [] : [parameter],
      additionalProperties: false,
    },
  }
}

export function isDeskTool(name: string): name is DeskToolName {
  return Object.hasOwn(parameterOf, name)
}

export function isAct(name: DeskToolName): name is DeskAct {
  return DeskAct.safeParse(name).success
}

/**
 * The one argument of a call, runs of white space as one space and none at its ends, or what is wrong with it in words
 * that teach. Of `done` it is empty.
 */
export type DeskArgument = { readonly text: string } | { readonly problem: string }

export function readDeskArgument(tool: DeskToolName, given: unknown): DeskArgument {
  const parameter = parameterOf[tool]
  const usage = parameter === null ? `${tool} takes no argument` : `${tool} takes one string: {"${parameter}": "…"}`
  if (typeof given !== 'object' || given === null) return { problem: usage }
  const entries: [string, unknown][] = Object.entries(given)
  if (parameter === null) return entries.length === 0 ? { text: '' } : { problem: usage }
  const [key, value] = entries[0] ?? []
  if (entries.length !== 1 || key !== parameter || typeof value !== 'string') return { problem: usage }
  if (value.length > maxArgumentLength)
    return { problem: `${parameter} has ${value.length} characters: at most ${maxArgumentLength}` }
  const text = value.replace(/\s+/g, ' ').trim()
  return text === '' ? { problem: `${parameter} is empty` } : { text }
}
