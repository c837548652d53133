import { RatchetError } from '../errors/index.ts'

/** An agent was defined or used in a way that cannot work. */
export class AgentError extends RatchetError {}
