import type { AssistantMessage, Json, ToolCall, ToolDefinition } from '../../core/index.ts'
import { type Dialect, turn, unknownTool, untilTheEnd } from './dialect.ts'
import { UnrenderableMessageError } from './unrenderable-message-error.ts'

/**
 * Calls as one line, like a command: `search MLGraphBuilder.relu`. The argument is the rest of the line where the tool
 * has one parameter; `name key=value key="two words"` where it has several. A string that would not read back as itself
 * (empty, padded, several lines) is written as a JSON string; values of other types are always JSON. Where there are tools,
 * words for the user are a command, too: `say Edge 112.`, unless a tool has that name.
 *
 * A turn's text begins with the space that separates it from the prompt's `>` and ends with the newline.
 */
export const commandLine: Dialect & { write(message: AssistantMessage, tools?: readonly ToolDefinition[]): string } = {
  name: 'command-line',

  read(text, tools) {
    const [line = '', ...rest] = text.split('\n')
    if (tools.length === 0) return turn(line.replace(/^ /, ''))
    const said = isBlank(rest) && rest.length > 0 && mayTalk(tools) ? saying.exec(line) : null
    if (said?.[1] !== undefined) return turn(said[1])
    const call = readLine(line.trim(), rest, tools)
    return typeof call === 'string' ? turn('', [], [{ text, problem: call }]) : turn('', [call])
  },

  reader: () => untilTheEnd,

  write(message, tools = []) {
    const { content, toolCalls = [], malformedCalls = [] } = message
    const calls = toolCalls.length + malformedCalls.length
    if (calls + (content === '' ? 0 : 1) > 1) {
      const things = `${calls} call${calls === 1 ? '' : 's'}${content === '' ? '' : ' and words beside'}`
      throw new UnrenderableMessageError(`it says more than one thing (${things}), and a turn is one line.`)
    }
    const [call] = toolCalls
    const [malformed] = malformedCalls
    if (malformed) return malformed.text.endsWith('\n') ? malformed.text : `${malformed.text}\n`
    if (call)
      return ` ${writeCall(
        call,
        tools.find(({ name }) => name === call.name),
      )}\n`
    if (content.includes('\n'))
      throw new UnrenderableMessageError('its text has several lines, and a turn is one line.')
    return tools.length > 0 && mayTalk(tools) ? ` say ${content}\n` : ` ${content}\n`
  },
}

/** Tokens hold a newline and white space after it, too: that is an end as well. */
const isBlank = (rest: readonly string[]) => rest.every((line) => line.trim() === '')

/** Words for the user, where there are tools; at least one. */
const saying = /^ ?say (?=.*\S)(.*)$/su

const mayTalk = (tools: readonly ToolDefinition[]) => tools.every(({ name }) => name !== 'say')

/** The call, or why there is none. */
function readLine(line: string, rest: readonly string[], tools: readonly ToolDefinition[]): ToolCall | string {
  if (rest.length === 0) return 'The line does not end.'
  if (!isBlank(rest)) return 'There is text after the end of the line.'
  if (line === '') return 'The line is empty.'
  const [name = ''] = line.split(' ', 1)
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool === undefined) return unknownTool(name, tools)
  const values = readArguments(line.slice(name.length).trim(), tool)
  return typeof values === 'string' ? values : { name, arguments: values }
}

type Arguments = Record<string, Json>

function readArguments(text: string, tool: ToolDefinition): Arguments | string {
  const parameters = parametersOf(tool)
  const [only] = parameters.keys()
  if (only === undefined) return text === '' ? {} : `${tool.name} takes no argument.`
  if (parameters.size === 1) {
    if (text !== '') return readOne(text, only, parameters)
    return isRequired(only, tool) ? `${tool.name} needs an argument.` : {}
  }
  const [key] = pairKey.exec(text) ?? []
  const firstText = [...parameters].find(([, form]) => form === 'text')?.[0]
  if (key === undefined && text !== '' && firstText !== undefined) return readOne(text, firstText, parameters)
  return readPairs(text, parameters)
}

function readOne(text: string, key: string, parameters: ParameterForms): Arguments | string {
  const value = readValue(text, parameters.get(key))
  return value === undefined ? `The value of ${key} is not JSON.` : { [key]: value }
}

/** `key=value` pairs; a value ends at white space, or where its JSON does. */
function readPairs(text: string, parameters: ParameterForms): Arguments | string {
  const values: [string, Json][] = []
  let rest = text
  while (rest !== '') {
    const [prefix, key] = pairKey.exec(rest) ?? []
    if (prefix === undefined || key === undefined) return `A key=value pair was expected, not ${JSON.stringify(rest)}.`
    if (!parameters.has(key))
      return `There is no parameter ${JSON.stringify(key)}: there are ${[...parameters.keys()].join(', ')}.`
    if (values.some(([earlier]) => earlier === key)) return `The parameter ${key} is given twice.`
    const body = rest.slice(prefix.length)
    const written = takeValue(body)
    const value = readValue(written, parameters.get(key))
    if (value === undefined) return `The value of ${key} is not JSON.`
    values.push([key, value])
    rest = body.slice(written.length).trimStart()
  }
  return Object.fromEntries(values)
}

const pairKey = /^([A-Za-z_][\w.-]*)=/

/** A value's text: JSON that opens with a quote or bracket up to where it is complete, else everything up to white space. */
function takeValue(text: string): string {
  const ends = [...text.matchAll(/\s|$/g)].map(({ index }) => index)
  const complete = /^["[{]/.test(text) ? ends.find((end) => parseJson(text.slice(0, end)) !== undefined) : undefined
  return text.slice(0, complete ?? ends[0])
}

/** Text is taken as it stands unless it is a JSON string. */
function readValue(text: string, form: 'text' | 'json' | undefined): Json | undefined {
  const json = parseJson(text)
  if (form === 'json') return json
  return typeof json === 'string' ? json : text
}

function writeCall({ name, arguments: values }: ToolCall, tool: ToolDefinition | undefined): string {
  const entries = Object.entries(values)
  const [first] = entries
  if (first === undefined) return name
  const positional = tool === undefined ? entries.length === 1 : parametersOf(tool).size === 1
  if (positional) return `${name} ${writeValue(first[1], /^[^\s"]$|^[^\s"][^\p{C}\n]*\S$/u)}`
  return [name, ...entries.map(([key, value]) => `${key}=${writeValue(value, /^[^\s"\p{C}][^\s\p{C}]*$/u)}`)].join(' ')
}

/** @param plain matches the strings that may stand as they are. */
const writeValue = (value: Json, plain: RegExp): string =>
  typeof value === 'string' && plain.test(value) ? value : JSON.stringify(value)

/** A tool's parameters in their declared order, and whether each is written as text or as JSON. */
type ParameterForms = ReadonlyMap<string, 'text' | 'json'>

function parametersOf({ parameters: { properties } }: ToolDefinition): ParameterForms {
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return new Map()
  return new Map(
    Object.entries(properties).map(([key, schema]: [string, unknown]) => {
      const types =
        typeof schema === 'object' && schema !== null && 'type' in schema ? [schema.type].flat() : ['string']
      return [key, types.includes('string') ? 'text' : 'json']
    }),
  )
}

const isRequired = (name: string, { parameters: { required } }: ToolDefinition): boolean =>
  Array.isArray(required) && required.includes(name)

/** The value of a JSON text; undefined when it is not JSON. */
function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
