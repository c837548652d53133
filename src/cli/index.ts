export { LearnConfig } from './learn-config.ts'
