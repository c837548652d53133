import { z } from 'zod'

/**
 * How far learning goes by itself. `shadow`: candidates and their evidence are kept, nobody gets them. `canary`: a share
 * of the sessions gets them, and a person promotes. `automatic`: the gates promote.
 */
export const LearningMode = z.enum(['shadow', 'canary', 'automatic'])
export type LearningMode = z.infer<typeof LearningMode>
