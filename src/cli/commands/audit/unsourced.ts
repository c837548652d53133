import type { Draw } from './audit-gateway.ts'

/** Numbers, dates, amounts and codes: what holds a digit and is of two characters or more. */
const FACT = /[\p{L}\p{N}](?:[\p{L}\p{N}]|[-.,:/_](?=[\p{L}\p{N}]))+/gu
const DIGIT = /\p{N}/u

/** So many are named. */
const mostNamed = 5

/**
 * Facts in what the agent says that neither the person nor a tool said before it: an agent can quote a source that does not
 * exist, and a reviewer who reads the session alone sees nothing of that. A hint, and no judgement: what is computed or known
 * by heart is among them.
 * @returns the first of them, each once, as they are written; empty where there are none.
 */
export function unsourced(messages: Draw['messages']): readonly string[] {
  const known = new Set<string>()
  const found = new Set<string>()
  for (const { role, content } of messages) {
    for (const fact of factsOf(content)) {
      if (role !== 'assistant') known.add(fact)
      else if (!known.has(fact)) found.add(fact)
    }
  }
  return [...found].slice(0, mostNamed)
}

const factsOf = (text: string): readonly string[] => (text.match(FACT) ?? []).filter((word) => DIGIT.test(word))
