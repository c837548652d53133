// How the agent learns: its section `learn`, once for the day on which it knows nothing, and once from then on.

/**
 * What people's acts are worth: what they used, what they corrected, and whether they had to ask again. A wrong answer is
 * wrong however little of it was corrected: `edge 112` for `edge 113` would earn -0.75, and be above the mean of a batch that
 * holds many calls that cannot be read.
 */
export const rubric = {
  signals: { used: {}, corrected: { weight: 8 } },
  implicit: { kinds: { rephrased: -1, retried: -1 } },
}

/** Sessions last seconds here; on a real day these are minutes and hours. */
const pace = { watchEvery: '1s', lease: '20s', window: '24h' }

/** The gateway asks for no key here, and who asks is named by this program alone: its names are people. */
const reporters = { trusted: ['open'] }

/**
 * What promotions rest on. `truth`: the company knows of every session whether its first answer was right, `within` so long
 * from its beginning: what comes later counts as missing, and nothing is decided sooner. A minute is enough on a machine that
 * others use as well, where a session takes half of that. `behaviour`: what people do, which an agent can learn to please;
 * people of this example are scripted.
 */
const evidenceOf = (evidence, within) =>
  ({
    truth: {
      audit: { share: 1, by: 'outcome', outcome: { signal: 'resolved', within, from: ['open'] }, queue: 1_000 },
    },
    behaviour: { canary: { promote: 'behaviour-only' } },
  })[evidence]

/**
 * The first day: people show what is right, and one run learns from it. What serves until then breaks every call, so that
 * all its sessions earn the floor and none is silent: the canary counts a silent session of the candidate as a bad one,
 * and is not watched for silence or for the errors of tools, which the agent did not call before.
 */
export const beginning = ({ sessions, settle = '2s', judgeAfter = '20s', evidence = 'truth', within = '60s' }) => ({
  ...pace,
  reporters,
  mode: 'automatic',
  every: '24h',
  minEpisodes: sessions,
  settle,
  judgeAfter,
  rubric,
  drift: false,
  demonstrations: { learningRate: 1e-3, batchSize: 8 },
  schedule: { demonstrationPasses: 3, preferencePasses: 0, epochs: 0 },
  canary: {
    ...evidenceOf(evidence, within).canary,
    // People of this example remember nothing, and are too few to be counted once each.
    assign: 'session',
    shares: [0.5],
    sessionsPerStep: 20,
    missing: 'worst',
    missingTolerance: 1,
    guards: { errors: false, toolErrors: false, tokens: false, seconds: false },
  },
  audit: evidenceOf(evidence, within).audit ?? false,
})

/**
 * From then on: answers that people took are imitated as they were, what they corrected is imitated as they corrected it,
 * and some of what earlier runs learned from is rehearsed.
 */
export const steady = ({
  sessions = 90,
  settle = '2s',
  judgeAfter = '20s',
  evidence = 'truth',
  within = '60s',
  schedule = {},
  canary = {},
  ...more
} = {}) => ({
  ...pace,
  reporters,
  mode: 'automatic',
  every: '1s',
  minEpisodes: sessions,
  limit: 2 * sessions,
  settle,
  judgeAfter,
  rubric,
  demonstrations: { learningRate: 3e-4, batchSize: 8 },
  schedule: {
    imitate: { accepted: 0.5 },
    demonstrationPasses: 2,
    preferencePasses: 0,
    epochs: 0,
    replay: 0.4,
    ...schedule,
  },
  canary: {
    ...evidenceOf(evidence, within).canary,
    assign: 'session',
    shares: [0.2, 0.5],
    sessionsPerStep: 20,
    maxSessions: 350,
    alpha: 0.1,
    missing: 'neutral',
    missingTolerance: 0.1,
    ...canary,
  },
  audit: evidenceOf(evidence, within).audit ?? false,
  ...more,
})
