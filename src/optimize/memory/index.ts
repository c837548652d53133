export { abstracted } from './abstracted.ts'
export { caseUtility, type CaseUtilityOptions } from './case-utility.ts'
export type { MemoryPart, OpenMemoryPart, Outcome, PartContext } from './part.ts'
export { addressesTheModel } from './trust.ts'
