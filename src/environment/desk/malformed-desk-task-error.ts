import { InputError } from '../../errors/index.ts'

/** A task whose `data` the order desk cannot open. */
export class MalformedDeskTaskError extends InputError {
  constructor(taskId: string, problem: string) {
    super({
      code: 'environment/malformed-desk-task',
      message: `Task ${JSON.stringify(taskId)} cannot be opened at the order desk: ${problem}.`,
      hint: 'Take tasks from loadDesk, or give them data of the form that DeskTaskData describes.',
    })
  }
}
