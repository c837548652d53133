import type { Float, GraphBuilder, TapeEntry } from './builder.ts'

/**
 * Appends the backward pass: d(Σ of `loss`'s elements)/d(each value of `wrt`), by playing the tape in reverse.
 * Only operations on a path from `wrt` to `loss` get backward nodes, so frozen weights cost nothing. Sums of
 * gradients have a fixed order.
 *
 * @returns one gradient for each value of `wrt`, in order; `null` where the loss does not depend on it.
 */
export function gradients(loss: Float, wrt: readonly Float[]): readonly (Float | null)[] {
  const { graph } = loss
  const path = entriesOnPath(graph, wrt)
  const needed = new Set([...wrt, ...path.map(({ output }) => output)].map(({ name }) => name))
  const found = new Map<string, Float>([[loss.name, onesLike(loss)]])
  for (const { output, inputs, rule } of path.toReversed()) {
    const gradient = found.get(output.name)
    if (gradient === undefined) continue
    const thunks = rule(gradient)
    for (const [position, input] of inputs.entries()) {
      if (!needed.has(input.name)) continue
      const part = thunks[position]?.()
      if (part === undefined) continue
      const sum = found.get(input.name)
      found.set(input.name, sum === undefined ? part : graph.node('Add', [sum, part], 'float32', input.shape))
    }
  }
  return wrt.map(({ name }) => found.get(name) ?? null)
}

/** The recorded operations whose result depends on a value of `wrt`, oldest first. */
function entriesOnPath(graph: GraphBuilder, wrt: readonly Float[]): readonly TapeEntry[] {
  const dependent = new Set(wrt.map(({ name }) => name))
  return graph.tape.filter(({ output, inputs }) => {
    const depends = inputs.some(({ name }) => dependent.has(name))
    if (depends) dependent.add(output.name)
    return depends
  })
}

function onesLike(x: Float): Float {
  const { graph } = x
  const shape = graph.node('Shape', [x], 'int64', [x.shape.length])
  return graph.node('Expand', [graph.scalar(1), shape], 'float32', x.shape)
}
