export { SandboxOutcome } from './outcome.ts'
export { runInSandbox } from './run-in-sandbox.ts'
export type { SandboxHost } from './sandbox-thread.ts'
