import type { ChatModel, ChatUpstream } from '../../core/index.ts'

/** Which model is asked, and how. */
export interface ChatModelOptions {
  /** What answers: any OpenAI-compatible URL, or the embedded engine. */
  readonly upstream: Pick<ChatUpstream, 'chat'>
  /** By the name that the upstream knows it by. */
  readonly model: string
  /** ≥ 0. Default: the upstream's own. */
  readonly temperature?: number
}

/** A chat upstream as a model to ask. Failures are the upstream's own. */
export function chatModel({ upstream, model, temperature }: ChatModelOptions): ChatModel {
  return {
    name: model,
    async ask({ instructions, material, maxTokens, signal = new AbortController().signal }) {
      const reply = await upstream.chat({
        request: {
          model,
          messages: [
            { role: 'system', content: instructions },
            { role: 'user', content: material },
          ],
          max_completion_tokens: maxTokens,
          stream: false,
          ...(temperature !== undefined && { temperature }),
        },
        weights: null,
        history: null,
        authorization: null,
        signal,
      })
      // Streams were not asked for: one is no answer.
      const choice = reply.kind === 'whole' ? reply.completion.choices[0] : undefined
      return { text: choice?.message.content ?? '', whole: choice?.finish_reason === 'stop' }
    },
  }
}
