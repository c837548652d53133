/** A name out of a file, for a message: escaped, and kept short. */
export const quoted = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
