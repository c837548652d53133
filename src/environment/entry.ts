/** What stands under a name that may come from outside; `undefined` for one that every object inherits. */
export function entry<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined
}
