import { type Json, memberOf, type ToolDefinition } from '../../core/index.ts'

const samples: Readonly<Record<string, Json>> = {
  string: 'a',
  integer: 1,
  number: 1,
  boolean: true,
  array: [],
  object: {},
  null: null,
}

/** Arguments that a tool may take: one small value for each parameter that it requires. */
export function sampleArguments({ parameters }: Pick<ToolDefinition, 'parameters'>): Record<string, Json> {
  const { required, properties } = parameters
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return Object.fromEntries(names.map((name) => [name, sampleOf(memberOf(properties, name))]))
}

function sampleOf(schema: Json | undefined): Json {
  const options = memberOf(schema, 'enum')
  if (Array.isArray(options) && options.length > 0) return options[0] as Json
  const type = memberOf(schema, 'type')
  const first: unknown = Array.isArray(type) ? type[0] : type
  return typeof first === 'string' && Object.hasOwn(samples, first) ? (samples[first] as Json) : 'a'
}
