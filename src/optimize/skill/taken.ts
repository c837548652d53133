import type { TakenValue } from '../../agent/index.ts'
import { atPath, type Expression } from './expression.ts'
import type { Instance } from './routines.ts'

/** Bytes that a value may have which was seen with fewer: identifiers grow. */
const roomFor = (seen: number) => Math.min(1_024, Math.max(64, 4 * seen))

/** What a routine takes over from answers, with the type and size that its episodes show. `null`: what is of no one type. */
export function takenIn(
  calls: readonly { readonly given: Expression }[],
  instances: readonly Instance[],
): readonly TakenValue[] | null {
  const taken: TakenValue[] = []
  for (const [call, { given }] of calls.entries()) {
    for (const { path, from } of sourcesIn(given, [])) {
      const values = instances.map(({ calls: of }) => atPath(of[call]?.arguments, path))
      const [type, ...others] = new Set(values.map((value) => typeof value))
      if (others.length > 0 || (type !== 'string' && type !== 'number' && type !== 'boolean')) return null
      const longest = Math.max(...values.map((value) => Buffer.byteLength(String(value))))
      taken.push({ call, from, path: [...path], type, most: roomFor(longest) })
    }
  }
  return taken
}

interface Source {
  readonly path: readonly (string | number)[]
  readonly from: number
}

/** Where in the arguments of a call a value of an answer stands, and of which. */
function sourcesIn(expression: Expression, path: readonly (string | number)[]): readonly Source[] {
  switch (expression.kind) {
    case 'constant':
    case 'parameter':
      return []
    case 'path':
      return [{ path, from: expression.from }]
    case 'between':
      return expression.from === 'task' ? [] : [{ path, from: expression.from }]
    case 'affixed':
      return sourcesIn(expression.of, path)
    case 'object':
      return expression.entries.flatMap(([key, of]) => sourcesIn(of, [...path, key]))
    case 'array':
      return expression.items.flatMap((of, i) => sourcesIn(of, [...path, i]))
  }
}
