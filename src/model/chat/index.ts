export { chatUpstream, type ChatUpstreamOptions, type ServingAdapter } from './chat-upstream.ts'
