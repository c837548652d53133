export { chatUpstream, type ChatUpstreamOptions } from './chat-upstream.ts'
