import { InputError } from '../../errors/index.ts'

/** A task whose `data` this environment cannot check an answer against. */
export class MalformedTaskError extends InputError {
  constructor(taskId: string, problem: string) {
    super({
      code: 'environment/malformed-task',
      message: `Task ${JSON.stringify(taskId)} cannot be opened in a search environment: ${problem}.`,
      hint: 'Give it data of the form {"accepted": ["the right answer"]}; tasksFromJsonl does.',
    })
  }
}
