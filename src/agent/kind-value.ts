import { type AnyKind, type ParameterName, ParameterValue, type ValueOf } from '../core/index.ts'
import { KindError } from './errors.ts'

/**
 * A value as versions hold it.
 * @throws KindError for one that its Kind's schema refuses.
 */
export function storedValue(parameter: ParameterName, module: AnyKind, value: unknown): ParameterValue {
  const { kind, flat } = module
  const read = checked(parameter, module, value)
  const { success, data, error } = ParameterValue.safeParse(
    flat ? { ...(read as object), kind } : { kind, value: read },
  )
  if (success) return data
  throw badValue(parameter, kind, error)
}

/**
 * Reads a stored value as its Kind does.
 * @throws KindError for a value of another Kind, and for one that the Kind's schema refuses.
 */
export function valueIn<M extends AnyKind>(parameter: ParameterName, module: M, stored: ParameterValue): ValueOf<M> {
  const { kind, ...inner } = stored
  if (kind !== module.kind) throw otherKind(parameter, kind, module.kind)
  return checked(parameter, module, module.flat ? inner : 'value' in inner ? inner.value : null)
}

function checked<M extends AnyKind>(parameter: ParameterName, module: M, value: unknown): ValueOf<M> {
  const { success, data, error } = module.value.safeParse(value)
  if (success) return data as ValueOf<M>
  throw badValue(parameter, module.kind, error)
}

const badValue = (parameter: string, kind: string, cause: Error & { issues: readonly unknown[] }) =>
  new KindError({
    code: 'agent/bad-value',
    message: `A value of "${parameter}" is none of the kind "${kind}": ${problemsOf(cause)}.`,
    hint: "Give a value that the Kind's schema accepts and that JSON holds; nothing was written.",
    cause,
  })

const otherKind = (parameter: string, found: string, declared: string) =>
  new KindError({
    code: 'agent/other-kind',
    message: `"${parameter}" holds a value of the kind "${found}", and the agent declares it as "${declared}".`,
    hint: `Declare it with the Kind "${found}", or give the new Parameter another name.`,
  })

/** What a schema refused, in its words. */
export const problemsOf = ({ issues }: { readonly issues: readonly unknown[] }): string =>
  (issues as readonly { readonly path: readonly PropertyKey[]; readonly message: string }[])
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ')
