import { InvalidDatastoreError } from './invalid-datastore-error.ts'

/** Most entries of one datastore: search is exact, and reads every key for every token. */
export const mostEntries = 100_000

/** Most neighbours of one search: as many as Khandelwal et al. 2019 used. */
export const mostNeighbours = 1024

/** What hidden states a datastore's keys are: states of other weights lie elsewhere, and must not be compared with them. */
export interface DatastoreOrigin {
  /** SHA-256 of the base model's shape and weights, in hexadecimal. */
  readonly model: string
  /** SHA-256 of the adapter's weights; `null` where the base model read the text. */
  readonly adapter: string | null
}

/**
 * Contexts and what followed them. Entry i is `keys[i · width … (i + 1) · width)`, the hidden state after a context, and
 * `tokens[i]`, the token that followed. The state is what the last block's feed-forward network reads, after its norm: of
 * the states that Khandelwal et al. 2019 compared, the one that worked best.
 */
export interface Datastore {
  /** Float32, `[entries, width]`, finite. */
  readonly keys: Float32Array
  /** Int32, `[entries]`. */
  readonly tokens: Int32Array
  /** Elements of a key: the model's hidden size. */
  readonly width: number
  readonly origin: DatastoreOrigin
}

/** @throws InvalidDatastoreError unless the parts agree, entries are 1 to {@link mostEntries}, and every key is finite. */
export function checkDatastore({ keys, tokens, width }: Datastore): void {
  if (tokens.length === 0) throw new InvalidDatastoreError('it has no entries.')
  if (tokens.length > mostEntries)
    throw new InvalidDatastoreError(`it has ${tokens.length} entries, and at most ${mostEntries} are searched.`)
  if (!Number.isInteger(width) || width < 1 || keys.length !== tokens.length * width)
    throw new InvalidDatastoreError(`${keys.length} numbers are no ${tokens.length} keys of ${width}.`)
  if (!keys.every(Number.isFinite)) throw new InvalidDatastoreError('a key holds what is not a number.')
  if (tokens.some((token) => token < 0)) throw new InvalidDatastoreError('a token is below 0.')
}
