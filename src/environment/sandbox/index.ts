export { SandboxOutcome } from './outcome.ts'
export { runInSandbox } from './run-in-sandbox.ts'
