/** Something as it may be written, and whether that is something else than it was. */
export interface Redacted<T> {
  readonly value: T
  readonly changed: boolean
}

/** Rules, applied where they are asked. */
export interface Rules {
  /** False when there are no rules: nothing is looked at. */
  readonly active: boolean
  /** Whether there are patterns of the owner's own, which may take long on a short text. */
  readonly mayBeSlow: boolean
  /**
   * Everything that a rule finds is replaced by its name: `[email]`. The same text always becomes the same. Looks also
   * behind characters that nobody sees, escapes, and base64 that is text.
   */
  redact(text: string): Redacted<string>
  /** Whether a name is the operator's own, of an agent or a model in the configuration: these are written as they are. */
  keeps(name: string): boolean
}

/** Rules that can be late, and that are tried again then. */
export interface TriedRules extends Rules {
  /** As `redact`: yields before a text that was late is tried again. */
  tries(text: string): Generator<void, Redacted<string>>
}

/** Takes out of texts what must not be written. */
export interface Redaction extends Rules {
  /**
   * Runs `read`, which redacts by what it is given, in parts that keep nobody waiting: long texts are redacted in another
   * thread. For whatever may be large.
   * @param read may run several times, and changes nothing before it returns.
   */
  reading<T>(read: (redaction: Redaction) => T): Promise<T>
  /**
   * The same for all readings of one request: however many there are, what may be late in them is limited as in one. A
   * reading by itself has a limit of its own.
   */
  together(): Redaction
}
