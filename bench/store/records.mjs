// What the store is given: episodes of about 4 KB of text, and calls of an agent's traffic with and without tokens.

const text = (length) =>
  'The deployment failed because the certificate of the registry had expired. '
    .repeat(Math.ceil(length / 75))
    .slice(0, length)

/** Sampled tokens with their log-probabilities: doubles as long as those of a real answer, the same in every record. */
const sampled = (count) => {
  const logprobs = Array.from({ length: count }, (_, i) => -((i * 0.6180339887498949) % 3))
  return {
    kind: 'sampled',
    tokens: Array.from({ length: count }, (_, i) => (i * 7919) % 32_000),
    behaviourLogprobs: logprobs,
    logprobs: [...logprobs],
    sampling: { temperature: 1, truncated: false },
  }
}

const makeNodes = (tokens) => [
  { id: 'question', parent: null, message: { role: 'user', content: text(1_700) }, spans: [] },
  {
    id: 'answer',
    parent: 'question',
    message: { role: 'assistant', content: text(1_700) },
    spans: tokens > 0 ? [sampled(tokens)] : [],
  },
]
/** Made once: what is measured is the store, and not the making of what it is given. */
const nodes = { 0: makeNodes(0), 1000: makeNodes(1000) }
const instruction = text(200)
const steps = [{ index: 0, action: 'answer', observations: [], decisions: [] }]

/** A finished episode, as `trajectories.append` takes it. */
export function episode(id) {
  const trajectory = {
    id,
    origin: { kind: 'rollout' },
    task: { id: 'task', instruction, split: 'train' },
    group: 'group',
    attempt: 0,
    seed: 1,
    nodes: nodes[0],
    steps,
    decisions: [],
    toolsets: {},
    stopReason: 'done',
    failure: null,
    finalState: null,
    startedAt: 1_700_000_000_000,
    seconds: 1,
  }
  return { trajectory, reward: { status: 'scored', value: 1, parts: {} }, run: null }
}

/**
 * A first call of a new conversation, as `traffic.append` takes it.
 * @param tokens 0 or 1000, sampled in its answer.
 */
export function call(id, tokens) {
  return {
    head: {
      id,
      origin: {
        kind: 'traffic',
        tenant: 'default',
        key: 'open',
        session: null,
        agent: null,
        subject: null,
        train: true,
      },
      task: { id: 'task', instruction },
      startedAt: 1_700_000_000_000,
    },
    part: {
      call: `call-${id}`,
      nodes: nodes[tokens],
      steps,
      decisions: [],
      toolsets: {},
      stopReason: 'done',
      failure: null,
      endedAt: 1_700_000_001_000,
    },
    turns: [{ digest: `digest-${id}`, node: 'answer' }],
    identity: { key: `identity-${id}`, body: 'body' },
  }
}
