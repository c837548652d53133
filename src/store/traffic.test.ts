import { openMemoryStore } from './open-store.ts'
import { trafficConformance } from './traffic.conformance.ts'

trafficConformance('memory', openMemoryStore)
