import type { Grammar, MalformedCall, ToolCall, ToolDefinition } from '../../core/index.ts'
import { type Dialect, turn } from './dialect.ts'
import { closing, opening, parseJson, readBlock } from './hermes-call.ts'
import { HermesReader } from './hermes-reader.ts'

/**
 * Calls as JSON between tags, after any text: `<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>`. Spoken by
 * Hermes, Qwen and MiniMind; the model's template writes it, this reads it.
 */
export const hermes: Dialect = {
  name: 'hermes',
  read(text, tools) {
    const start = text.indexOf(opening)
    if (start < 0) return turn(text)
    const calls: ToolCall[] = []
    const malformed: MalformedCall[] = []
    let rest = text.slice(start)
    while (rest !== '') {
      const block = takeBlock(rest)
      const result = readBlock(block, tools)
      if ('problem' in result) malformed.push(result)
      else calls.push(result)
      rest = rest.slice(block.length).trimStart()
    }
    return turn(text.slice(0, start).replace(/\n$/, ''), calls, malformed)
  },
  forcedCalls(tools, several) {
    const one: Grammar = { kind: 'or', of: tools.map(callOf) }
    return several ? { kind: 'several', of: one, between: '\n' } : one
  },
  reader: (tools) => new HermesReader(tools),
}

/** The name as a template writes it, then whatever arguments the tool's parameters accept: an object. */
const callOf = ({ name, parameters }: ToolDefinition): Grammar => ({
  kind: 'sequence',
  of: [
    { kind: 'text', text: `${opening}\n{"name": ${JSON.stringify(name)}, "arguments": ` },
    { kind: 'json', schema: ofObjects(parameters) },
    { kind: 'text', text: `}\n${closing}` },
  ],
})

/** A schema that says of which type it is, or says so elsewhere. */
const ofObjects = (parameters: ToolDefinition['parameters']) =>
  ['type', '$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) => keyword in parameters)
    ? parameters
    : { ...parameters, type: 'object' }

/**
 * The next block of text that starts with one. A closing tag inside a JSON string does not end it: the block ends at
 * the first closing tag that leaves JSON before it, or failing that at the first closing tag.
 */
function takeBlock(text: string): string {
  if (!text.startsWith(opening)) return untilNext(text, 0)
  const ends = [...text.matchAll(new RegExp(closing, 'g'))].map(({ index }) => index)
  const end = ends.find((at) => parseJson(text.slice(opening.length, at)) !== undefined) ?? ends[0]
  return end === undefined ? untilNext(text, opening.length) : text.slice(0, end + closing.length)
}

/** The text up to the next opening tag. */
function untilNext(text: string, from: number): string {
  const next = text.indexOf(opening, from)
  return next < 0 ? text : text.slice(0, next)
}
