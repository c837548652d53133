export * from './chat-completion.ts'
export * from './chat-request.ts'
export * from './messages.ts'
export * from './plain-chunk.ts'
