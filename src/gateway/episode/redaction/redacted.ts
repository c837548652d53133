/** Something as it may be written, and whether that is something else than it was. */
export interface Redacted<T> {
  readonly value: T
  readonly changed: boolean
}
