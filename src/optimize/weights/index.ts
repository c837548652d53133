export { demonstrationDatum, policyDatum } from './datum.ts'
export { OptimizeError } from './errors.ts'
export { type PolicyGradientOptions, policyGradient } from './policy-gradient.ts'
export { type SupervisedOptions, supervisedPass } from './supervised.ts'
