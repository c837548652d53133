import { InputError } from '../../errors/index.ts'

/** A task whose `data` no house can be built from. */
export class MalformedHouseTaskError extends InputError {
  constructor(taskId: string, problem: string) {
    super({
      code: 'environment/malformed-house-task',
      message: `Task ${JSON.stringify(taskId)} cannot be opened in a house: ${problem}.`,
      hint: 'Take tasks from loadHouse, or give them data of the form that HouseTaskData describes.',
    })
  }
}
