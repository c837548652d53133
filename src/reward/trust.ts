// Whose word is taken for who somebody is.

/** What this system says itself: its verifiers, its judges, its rollouts. */
export const internal = 'ratchet'

/** The API key of a reporter, who is kept as `key` or as `key:name`. */
export const keyOf = (reporter: string): string => reporter.split(':', 1)[0] ?? reporter

/** Whether this is a key's own id, and no name that a key gave. */
export const isKey = (reporter: string): boolean => reporter === keyOf(reporter)

/** Whether a list of those whom the owner trusts has a key, whose names are people. */
export const namesKeys = (trusted: readonly string[]): boolean => trusted.some(isKey)

/** Which names count as people. */
export class Trust {
  /** Reporters that are not limited. */
  readonly exempt: ReadonlySet<string>
  /** Whether some key's names are people: then the names of all other keys are strangers' beside them. */
  readonly hasKeys: boolean

  /** @param trusted keys whose names are people, and single reporters as `key:name`. */
  constructor(trusted: readonly string[]) {
    this.exempt = new Set([internal, ...trusted])
    this.hasKeys = namesKeys(trusted)
  }

  /**
   * The person whose session it is, as `key:name`, whichever session key they use; `null` where nobody whom the owner trusts
   * names one.
   */
  personOf({ key, subject }: { readonly key: string; readonly subject: string | null }): string | null {
    if (subject === null) return null
    const name = `${keyOf(key)}:${subject}`
    return this.exempt.has(name) || this.exempt.has(keyOf(key)) ? name : null
  }

  /** Whom a reporter counts as: themselves where the owner trusts them or their key, and else their key. */
  voiceOf(reporter: string): string {
    return this.exempt.has(reporter) || this.exempt.has(keyOf(reporter)) ? reporter : keyOf(reporter)
  }
}
