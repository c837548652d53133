import type { Generated } from 'kysely'

/**
 * The columns, portable between SQLite and PostgreSQL: text ids, whole milliseconds since the epoch, double precision,
 * JSON as text; no booleans, no dates. What is asked for by value has a column; the rest of a record is JSON.
 */
export interface Tables {
  migrations: { name: string; applied_at: number }
  versions: {
    id: string
    parameter: string
    kind: string
    value: string
    parents: string
    run: string | null
  }
  trajectories: {
    /** Order of recording. */
    sequence: Generated<number>
    id: string
    run: string | null
    task: string
    task_group: string
    split: string
    tier: string | null
    stop_reason: string
    reward_status: string
    reward_value: number | null
    reward: string
    started_at: number
    seconds: number
    /** `rollout`, `traffic` or `import`. */
    origin: Generated<string>
    tenant: Generated<string>
    session: string | null
    agent: string | null
    subject: string | null
    /** 0 or 1. */
    train: Generated<number>
    /** For lists: the task's instruction, cut. */
    instruction: Generated<string>
    /** When it last changed. */
    updated_at: Generated<number>
    /** What a traffic trajectory was from its first call on; `null` for one that was written whole. */
    head: string | null
    /** The canary that assigned it when it began. */
    canary: string | null
  }
  /** Whom later calls of a traffic trajectory are about, beside the first whom one named. */
  further_subjects: { subject: string; trajectory: string }
  /** Apart from the columns, so that an aggregate does not read through megabytes of messages. */
  trajectory_payloads: { trajectory: string; payload: string }
  /** What each call added to a traffic trajectory. */
  trajectory_parts: { sequence: Generated<number>; call: string; trajectory: string; payload: string; at: number }
  /** Assistant turns that the gateway produced, by which a conversation is known again. */
  produced_turns: {
    sequence: Generated<number>
    tenant: string
    api_key: string
    digest: string
    trajectory: string
    node: string
  }
  /** Requests that can be repeated, by their client's own key. */
  request_identities: {
    tenant: string
    api_key: string
    identity: string
    body: string
    trajectory: string
    call: string
    at: number
  }
  /** Requests being answered that may be repeated, and by which gateway. */
  request_claims: {
    tenant: string
    api_key: string
    identity: string
    body: string
    gateway: string
    expires_at: number
  }
  /** Streams under way: what they have said so far. */
  pending_calls: { call: string; gateway: string; trajectory: string; payload: string; updated_at: number }
  api_keys: {
    sequence: Generated<number>
    id: string
    tenant: string
    name: string
    secret_hash: string
    session: string | null
    /** The rest of the record, as JSON. */
    settings: string
    created_at: number
    revoked_at: number | null
    /** Of the key of a session, when it expires; `null` for all others, which are never removed. */
    expires_at: number | null
  }
  signals: {
    tenant: string
    key: string
    reporter: string
    /** When it reached the store: what caps count by. */
    received_at: number
    trajectory: string
    node: string | null
    source: string
    name: string
    value: string
    at: number
  }
  /** What was erased of late: hashes of trajectories' ids and of people's names (`erasures.ts`). */
  erasures: { what: string; at: number }
  /** Held by who counts what a reporter has said. A row stands for many reporters, and names none. */
  signal_locks: { slot: number }
  runs: {
    /** Order of creation. */
    sequence: Generated<number>
    id: string
    agent: string
    config: string
    seed: number
    status: string
    versions_in: string
    versions_out: string | null
    receipt: string | null
    release: string | null
    failure: string | null
    started_at: number
    ended_at: number | null
  }
  run_events: { run: string; sequence: number; type: string; data: string; at: number }
  checkpoints: { run: string; sequence: number; state: string; blobs: string; at: number }
  receipts: { id: string; agent: string; decision: string; receipt: string }
  /** Which tasks a holdout is made of: uses of holdouts that share one are found through it. */
  holdout_tasks: { task: string; holdout: string }
  holdout_uses: { holdout: string; use: number; alpha: number; run: string | null; at: number }
  /** What each candidate of an agent may spend; `promoted` is 0 or 1. */
  candidate_levels: {
    agent: string
    candidate: number
    key: string
    alpha: number
    promotions: number
    promoted: number
    at: number
  }
  releases: {
    /** Order of creation. */
    sequence: Generated<number>
    id: string
    agent: string
    versions: string
    receipt: string | null
    run: string | null
    created_at: number
  }
  activations: { agent: string; generation: number; release: string; reason: string; at: number }
  /** What holds an agent's release in place. */
  pins: { agent: string; release: string; reason: string; at: number }
  /** One row, which grows with every change of what serves. */
  serving_revision: { id: number; revision: number }
  canaries: {
    /** Order of creation. */
    sequence: Generated<number>
    id: string
    agent: string
    status: string
    baseline: string
    admission: string | null
    receipt: string | null
    /** The whole record, as JSON. */
    canary: string
    /** `null` for one that nobody has looked at. */
    watched_until: number | null
  }
  canary_events: {
    canary: string
    sequence: number
    type: string
    share: number
    reasons: string
    evidence: string
    at: number
  }
  /** Each in the order of judging; `judged` has the rest of the record, as JSON, and `reporters` a list. */
  judged_sessions: { canary: string; sequence: number; trajectory: string; reporters: string; judged: string }
  /** Sessions of canaries that were drawn for the audit, by an id that tells nothing of them. */
  audit_draws: { id: string; canary: string; sequence: number; trajectory: string; at: number }
  /** What a reviewer says of a draw; `truth` is `null` where it cannot be told. */
  audit_labels: {
    tenant: string
    draw: string
    reviewer: string
    by: string
    truth: number | null
    note: string
    at: number
    withdrawn_at: number | null
  }
  /** `holder` is `null` of one that was given up: the row stays, so that its token goes on growing. */
  leases: { name: string; holder: string | null; token: number; expires_at: number }
  alerts: {
    /** Order of writing. */
    sequence: Generated<number>
    id: string
    agent: string
    kind: string
    name: string
    message: string
    evidence: string
    run: string | null
    at: number
  }
}
