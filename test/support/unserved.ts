import { UnservedAdapterError } from '../../src/model/openai/index.ts'

/** The failure of an upstream that could not load an adapter. */
export const notLoadedError = (adapter: string) =>
  new UnservedAdapterError({
    kind: 'broken',
    upstream: 'house',
    problem: `loading ${adapter} failed`,
    hint: 'See the log.',
  })
