/** Whether a sentence asks, tells to do something, or is cut short as in a search box. Each is said politely in its own way. */
export const forms = ['question', 'request', 'fragment'] as const
export type Form = (typeof forms)[number]

/**
 * Sentences of one kind of question, by form. `{browser}` stands for what the browser is called, `{a}`, `{b}` and `{c}` for
 * the titles in the order of the question. A sentence has neither capital nor final mark: the politeness around it gives
 * both. A title follows a space, so that it can be copied token by token, and no letter follows a title.
 */
export type Frames = Readonly<Record<Form, readonly string[]>>

/**
 * The sentences that training may use, and those by which it is measured whether other words are understood too. No held-out
 * sentence shares half of its words with a seen one.
 */
export interface FrameSets {
  readonly seen: Frames
  /** `{browser}` stands where "the Chrome browser" can stand. */
  readonly heldOut: Frames
}
