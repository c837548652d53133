import type { ChatCall, ChatUpstream } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { begun } from './begun.ts'
import { isUnservedAdapter, notLoaded } from './unserved-adapter.ts'
import { isUpstreamFailure } from '../http/upstream-error.ts'

/**
 * Several upstreams as one: tried in order, the first that answers, answers; once the first chunk of a stream is there,
 * that one stays. The next is tried after every failure but two: `cancelled`, and `refused`, since a request that is wrong
 * for one is wrong for all. Of refusals only 404 goes on: another may have the model. A 401 stops, since the client's own
 * `Authorization` was refused, and an upstream with a key of its own must not let in whom the first turned away; where it
 * was the upstream's own key, the failure is `broken`, and goes on. When all fail, the failure is the last one that is no
 * 404: of an upstream that has the model, but not now. An upstream that cannot answer with a request's adapter is passed
 * over; then the failure says so.
 * @throws InputError for none at all, and for two of one name.
 */
export function fallback(upstreams: readonly ChatUpstream[]): ChatUpstream {
  const [first] = upstreams
  const names = upstreams.map(({ name }) => name)
  if (first === undefined || new Set(names).size < names.length) {
    throw new InputError({
      code: 'input/upstreams',
      message: first ? `Two upstreams have one name, of ${names.join(', ')}.` : 'There is no upstream.',
      hint: 'Give at least one upstream, each under its own name.',
    })
  }
  if (upstreams.length === 1) return first
  const name = names.join(', ')
  return {
    name,
    get tellsTokens() {
      return upstreams.some(({ tellsTokens }) => tellsTokens)
    },
    get servesAdapters() {
      return upstreams.some(({ servesAdapters }) => servesAdapters)
    },
    /** Ready where one of them can answer with them. */
    async prepare(model, weights) {
      const outcomes = await Promise.allSettled(upstreams.map((upstream) => upstream.prepare(model, weights)))
      if (outcomes.some(({ status }) => status === 'fulfilled')) return
      const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
      throw reasons.find((reason) => !isRefused(reason)) ?? reasons[0]
    },
    weights: (model, answered) => (upstreams.find((one) => one.name === answered) ?? first).weights(model, answered),
    async models(call) {
      const lists = await Promise.allSettled(upstreams.map((upstream) => upstream.models(call)))
      const models = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
      const [failed] = lists
      if (failed?.status === 'rejected' && lists.every(({ status }) => status === 'rejected')) throw failed.reason
      return [...new Map(models.toReversed().map((model) => [model.id, model])).values()].toReversed()
    },
    chat: (call) => inOrder(upstreams, name, call, async (upstream) => begun(await upstream.chat(call))),
    embeddings: (call) => inOrder(upstreams, name, {}, (upstream) => upstream.embeddings(call)),
    load: () => upstreams.flatMap((upstream) => upstream.load?.() ?? []),
    async close() {
      await Promise.all(upstreams.map((upstream) => upstream.close()))
    },
  }
}

const isRefused = (error: unknown): boolean => isUpstreamFailure(error) && error.kind === 'refused'

async function inOrder<T>(
  upstreams: readonly ChatUpstream[],
  name: string,
  { weights = null }: Partial<Pick<ChatCall, 'weights'>>,
  ask: (upstream: ChatUpstream) => Promise<T>,
): Promise<T> {
  let failure: unknown
  let unserved: unknown
  for (const upstream of upstreams) {
    try {
      return await ask(upstream)
    } catch (error) {
      if (!isUpstreamFailure(error) || error.kind === 'cancelled') throw error
      if (isUnservedAdapter(error)) {
        unserved ??= error
        continue
      }
      const unknown = error.kind === 'refused' && error.status === 404
      if (error.kind === 'refused' && !unknown) throw error
      if (failure === undefined || !unknown) failure = error
    }
  }
  if (unserved === undefined || weights?.adapter === null) throw failure
  throw failure === undefined ? unserved : notLoaded(name, failure)
}
