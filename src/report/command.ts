import { shellWord } from '../core/index.ts'
import type { RunReport } from './run-report.ts'

/** A command line of Ratchet that works on this report's store, as a person would type it. */
export const commandLine = ({ storeArgument }: Pick<RunReport, 'storeArgument'>, line: string): string =>
  `npx ratchet ${line}${storeArgument}`

/** A command about the run's agent: it is named, for a store may hold several. */
export function agentCommand(report: Pick<RunReport, 'storeArgument' | 'run'>, line: string): string {
  return commandLine(report, `${line} --agent ${shellWord(report.run.agent)}`)
}
