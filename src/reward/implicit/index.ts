export { type ImplicitOptions, implicitReporter, implicitSignals } from './implicit-signals.ts'
export { asksTheSame } from './words.ts'
export { allImplicitKinds, ImplicitKind, implicitKinds } from './kinds.ts'
