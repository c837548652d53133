/** `make`, called at most once and only when asked: the nodes that two gradients of one rule share. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
