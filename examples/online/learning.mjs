// How the agent learns: its section `learn`, once for the day on which it knows nothing, and once from then on.

/**
 * What people's acts are worth: what they used, what they corrected, and whether they had to ask again. A wrong answer is
 * wrong however little of it was corrected: by the share that changed, `edge 112` for `edge 113` would be nearly right, and
 * above the mean of a batch that holds many calls that cannot be read.
 */
const rubric = {
  signals: { used: {}, corrected: { weight: 8 } },
  implicit: { kinds: { rephrased: -1, retried: -1 } },
}

/** Sessions last seconds here; on a real day these are minutes and hours. */
const pace = { watchEvery: '1s', lease: '20s', window: '24h' }

const yesOrNo = (tolerance) => ({ tolerance, range: [0, 1] })

/**
 * The first day: people show what is right, and one run learns from it. What serves until then breaks every call, so that
 * all its sessions earn the floor and none is silent: the canary counts a silent session of the candidate as a bad one,
 * and is not watched for silence or for the errors of tools, which the agent did not call before.
 */
export const beginning = ({ sessions, settle = '2s', judgeAfter = '45s' }) => ({
  ...pace,
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
    shares: [0.5],
    sessionsPerStep: 20,
    missing: 'worst',
    missingTolerance: 1,
    guards: { brokenCalls: yesOrNo(0.01), questionsBack: yesOrNo(0.02), inaction: yesOrNo(0.02) },
  },
})

/** From then on: policy gradient from what people do with the answers. That this makes it better is not shown: see NOTES.md. */
export const steady = ({
  sessions = 200,
  settle = '2s',
  judgeAfter = '45s',
  policy = {},
  schedule = {},
  ...more
} = {}) => ({
  ...pace,
  mode: 'automatic',
  every: '1s',
  minEpisodes: sessions,
  limit: 2 * sessions,
  settle,
  judgeAfter,
  rubric,
  credit: { baseline: 'batch' },
  policy: { learningRate: 1e-4, minibatches: 4, ...policy },
  schedule: { demonstrationPasses: 0, preferencePasses: 0, epochs: 1, replay: 0, ...schedule },
  canary: {
    shares: [0.2, 0.5],
    sessionsPerStep: 25,
    maxSessions: 400,
    alpha: 0.1,
    missing: 'neutral',
    missingTolerance: 0.1,
  },
  ...more,
})
