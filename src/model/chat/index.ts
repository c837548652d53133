export { chatModel, type ChatModelOptions } from './chat-model.ts'
export { chatUpstream, type ChatUpstreamOptions } from './chat-upstream.ts'
