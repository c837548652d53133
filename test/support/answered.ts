import { KeyId } from '../../src/core/index.ts'
import type { Answer, Caller } from '../../src/gateway/ports.ts'

/** A caller with every private thing that must not get out. */
export const privateCaller: Caller = {
  tenant: 'acme',
  key: KeyId.parse('key1key1key1'),
  scopes: new Set(['infer']),
  session: 'PRIVATE-session',
  agent: 'PRIVATE-agent',
  subject: 'PRIVATE-subject',
  train: true,
  limits: { requestsPerMinute: null, concurrency: null, bodyBytes: null },
  authorization: 'Bearer PRIVATE-upstream-key',
}

/** An answer whose content is private. */
export const privateAnswer: Answer = {
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'PRIVATE-content' },
      finish: 'stop',
      tokens: [1, 2],
      logprobs: null,
      behaviourLogprobs: null,
    },
  ],
  usage: { promptTokens: 100, completionTokens: 20, cachedTokens: 60 },
  upstream: 'vllm',
  servedModel: 'qwen3-4b',
  upstreamId: 'chatcmpl-upstream',
  promptTokens: null,
  firstTokenAt: null,
}
