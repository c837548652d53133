export { expert, firstHit, questionOf, stratumOf } from './expert.ts'
export { type Feature, readFeatures } from './features.ts'
export { answerQuestion, Question, type QuestionForm, QuestionKind, questionForms } from './question.ts'
export { type Browser, browsers, type SupportTable } from './support.ts'
