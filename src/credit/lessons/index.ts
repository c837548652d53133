export { type IsInContext, todaysContext } from './context.ts'
export { Imitated } from './imitated.ts'
export { lagOf, type Lags, lagsOf } from './served.ts'
export { type Reading, shownIn, type Shown } from './shown.ts'
