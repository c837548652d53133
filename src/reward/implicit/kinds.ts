import { z } from 'zod'

/**
 * What people do with an answer says something of it without their being asked. Each kind is weak evidence: its value is
 * what it means as a reward, from -1 to 1, and a rubric decides how much it counts.
 */
export const implicitKinds = {
  /** The conversation went on from the answer to something new, which the answer did not ask for. */
  accepted: { value: 0.5, meaning: 'the user took the answer and went on to something new' },
  /** The client's history holds a changed answer. The value is minus how much of what it says was changed. */
  edited: { value: -1, meaning: 'the answer was changed before it was used: minus what it says otherwise' },
  /** The same question was put again, word for word, and another answer was taken. */
  retried: { value: -0.5, meaning: 'another answer to the very same question was asked for' },
  /** The user put the same question again, mostly in other words. */
  rephrased: { value: -0.5, meaning: 'the user asked the same again, mostly in other words' },
  /** The client left midway, or nobody answered the question, or ran the tools, that the turn ended with. */
  abandoned: { value: -0.5, meaning: 'the client left while the answer came, or did not go on from what it asked for' },
  /** A tool that the turn called reported an error in what came next. */
  'tool-error': { value: -0.5, meaning: 'a tool that the turn called answered with an error' },
  /** The user thanked, and the answer did not ask for it. */
  thanks: { value: 1, meaning: 'the user said thanks or praised the answer' },
  /** The user asked for a correction. */
  'change-request': { value: -1, meaning: 'the user said that it is wrong or asked for a change' },
} as const satisfies Readonly<Record<string, { readonly value: number; readonly meaning: string }>>

/**
 * Which way of reading behaviour this is: part of a rubric's hash. Raise it where the same trajectory comes to be read
 * otherwise, so that sessions that were judged by one way are not compared with those judged by another.
 */
export const readingsVersion = 2

/** Their names. */
export const ImplicitKind = z.enum(Object.keys(implicitKinds) as (keyof typeof implicitKinds)[])
export type ImplicitKind = z.infer<typeof ImplicitKind>

/** Every kind, in the order of the table in `docs/signals.md`. */
export const allImplicitKinds: readonly ImplicitKind[] = ImplicitKind.options
