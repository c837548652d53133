export { type DeclaredAgent, declareAgents, type DeclareOptions, textsOf, toolParameter } from './declare.ts'
export { prepareReleases, type PrepareReleasesOptions, type PrepareVersions, prepareVersions } from './prepare.ts'
export { type FindAgent, type ServedSession, type ServedAgent, servedAgents } from './served-agent.ts'
export { type LearnedTexts, shownRequest, type ShownRequest, type ShownText } from './shown.ts'
