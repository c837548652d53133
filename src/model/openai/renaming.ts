import type { ChatUpstream, Json, ServedModel } from '../../core/index.ts'
import { recordOf } from '../http/failures.ts'

/**
 * Names that clients ask for in place of those that the upstream knows; others go on unchanged. Answers keep the name that
 * the upstream says it was.
 * @param models the upstream's name of a model, by the client's.
 */
export function renaming(upstream: ChatUpstream, models: Readonly<Record<string, string>>): ChatUpstream {
  const names = new Map(Object.entries(models))
  if (names.size === 0) return upstream
  const theirs = (model: string): string => names.get(model) ?? model
  return {
    name: upstream.name,
    get tellsTokens() {
      return upstream.tellsTokens
    },
    get servesAdapters() {
      return upstream.servesAdapters
    },
    prepare: (model, weights) => upstream.prepare(theirs(model), weights),
    weights: (model, answered) => upstream.weights(theirs(model), answered),
    async models(call) {
      const listed = await upstream.models(call)
      const aliases = [...names].flatMap(([id, model]): ServedModel[] => {
        const known = listed.find((served) => served.id === model)
        return known ? [{ ...known, id }] : []
      })
      return [...aliases, ...listed.filter(({ id }) => !names.has(id))]
    },
    chat: (call) => upstream.chat({ ...call, request: { ...call.request, model: theirs(call.request.model) } }),
    embeddings: (call) => upstream.embeddings({ ...call, body: withModel(call.body, theirs) }),
    close: () => upstream.close(),
  }
}

function withModel(body: Json, theirs: (model: string) => string): Json {
  const record = recordOf(body)
  return typeof record?.model === 'string' ? { ...record, model: theirs(record.model) } : body
}
