export { HouseEnvironment } from './house-environment.ts'
export { HouseEpisode } from './house-episode.ts'
export { type HouseOptions, type HouseWorld, loadHouse } from './load.ts'
export { MalformedHouseTaskError } from './malformed-house-task-error.ts'
export {
  houseAnyRoom,
  houseExpert,
  houseFirstThing,
  houseRandom,
  houseStayAtHome,
  houseWrongThing,
} from './policies.ts'
export { HouseFinalState, HouseRequest, HouseTaskData } from './task-data.ts'
export { houseTools } from './tools.ts'
export { houseProgress, houseVerify } from './verify.ts'
export { nullPolicy } from '../null-policy.ts'
