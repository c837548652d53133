export { eraseSubject } from './erase-subject.ts'
export { type KeyRoutesOptions, keyRoutes } from './key-routes.ts'
export { type SessionRoutesOptions, sessionRoutes } from './session-routes.ts'
export { type SubjectRoutesOptions, subjectRoutes } from './subject-routes.ts'
