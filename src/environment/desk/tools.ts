import { type ReadString, StringTools } from '../string-tools.ts'
import { DeskAct } from './books.ts'

/** Longest argument a tool takes, in UTF-16 code units: names and ids are shorter. */
const maxArgumentLength = 64

/** What they do, never when that is right. */
const tools = new StringTools(
  {
    customer: { does: 'Lists the orders of a customer.', takes: 'name' },
    order: { does: 'Shows an order.', takes: 'id' },
    item: { does: 'Shows the price class and stock of an item.', takes: 'name' },
    cancel: { does: 'Stops an order and pays it back.', takes: 'id' },
    refund: { does: 'Pays an order back.', takes: 'id' },
    replace: { does: 'Sends what was ordered once more.', takes: 'id' },
    return: { does: 'Asks the customer to send an order back.', takes: 'id' },
    escalate: { does: 'Hands an order to a person.', takes: 'id' },
    done: { does: 'Ends the episode.', takes: null },
  },
  maxArgumentLength,
)

/** The tools of a desk episode. */
export type DeskToolName = 'customer' | 'order' | 'item' | DeskAct | 'done'

/** As the policy sees them. They say what a tool does, never when it is right. */
export const deskTools = tools.definitions

export function isDeskTool(name: string): name is DeskToolName {
  return tools.has(name)
}

export function isAct(name: DeskToolName): name is DeskAct {
  return DeskAct.safeParse(name).success
}

/**
 * The one argument of a call, runs of white space as one space and none at its ends, or what is wrong with it in words
 * that teach. Of `done` it is empty.
 */
export function readDeskArgument(tool: DeskToolName, given: unknown): ReadString {
  const read = tools.read(tool, given)
  return 'problem' in read ? read : { text: read.text.replace(/\s+/g, ' ') }
}
