import type { Datum, Loss } from '../../core/index.ts'
import type { StoredRequest, Work } from '../journal/events.ts'

type WorkOf<K extends Work['kind']> = Extract<Work, { readonly kind: K }>
type Pass = WorkOf<'pass'>

/** What a model does in one go: passes of one loss together, anything else alone. */
export type Step =
  | {
      readonly kind: 'passes'
      readonly requests: readonly StoredRequest[]
      readonly data: readonly Datum[]
      /** How many of the data are each request's. */
      readonly sizes: readonly number[]
      readonly loss: Loss
    }
  | { readonly kind: 'one'; readonly request: StoredRequest; readonly work: Work }

/** Most data of passes that are done together. */
const mostData = 512

/**
 * The first of the requests, with those behind it that can be done in the same pass: a gradient is a sum, so one pass over
 * the data of several requests packs their common beginnings once.
 * @param alone whether a request may have no company.
 */
export function nextStep(waiting: readonly StoredRequest[], alone: (id: string) => boolean = () => false): Step | null {
  const [first] = waiting
  if (first === undefined || first.work === null) return null
  const { work } = first
  if (work.kind !== 'pass' || work.forwardOnly) return { kind: 'one', request: first, work }
  const joined = [{ request: first, work }]
  let size = work.data.length
  for (const request of alone(first.id) ? [] : waiting.slice(1)) {
    const next = request.work
    if (alone(request.id)) break
    if (next?.kind !== 'pass' || !alike(next, work) || size + next.data.length > mostData) break
    joined.push({ request, work: next })
    size += next.data.length
  }
  return together(joined, work.loss)
}

/** What was done together is done together again: sums of floats hang on their order. */
export function sameStep(requests: readonly StoredRequest[]): Step | null {
  const passes = requests.flatMap((request) =>
    request.work?.kind === 'pass' && !request.work.forwardOnly ? [{ request, work: request.work }] : [],
  )
  const [first] = passes
  if (first !== undefined) return together(passes, first.work.loss)
  const [request] = requests
  return request === undefined || request.work === null ? null : { kind: 'one', request, work: request.work }
}

/** Whose step it is. */
export const requestsOf = (step: Step): readonly StoredRequest[] =>
  step.kind === 'one' ? [step.request] : step.requests

function together(joined: readonly { readonly request: StoredRequest; readonly work: Pass }[], loss: Loss): Step {
  return {
    kind: 'passes',
    requests: joined.map(({ request }) => request),
    data: joined.flatMap(({ work }) => work.data),
    sizes: joined.map(({ work }) => work.data.length),
    loss,
  }
}

const alike = (a: Pass, b: Pass): boolean => !a.forwardOnly && JSON.stringify(a.loss) === JSON.stringify(b.loss)
