import { type Json, memberOf } from './json.ts'
import type { ToolDefinition } from './message.ts'

/** The values of a tool's argument, where its schema lists them (`enum`, booleans); else none. */
export function listedValues({ parameters }: ToolDefinition, argument: string): readonly Json[] {
  const schema = memberOf(parameters.properties, argument)
  if (memberOf(schema, 'type') === 'boolean') return [true, false]
  const values = memberOf(schema, 'enum')
  return Array.isArray(values) ? values : []
}
