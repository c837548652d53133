import { KindError } from '../errors.ts'

/** A skill, or what was declared of skills, is not what it has to be; or its code does what no skill may. */
export class SkillError extends KindError {}

export const badSkills = (message: string): SkillError =>
  new SkillError({
    code: 'skill/bad-options',
    message,
    hint: 'Look at SkillsOptions for what each option may be, and at `skillBounds` for sizes: nothing was run.',
  })

export const noRoom = (name: string, problem: string): SkillError =>
  new SkillError({
    code: 'skill/no-room',
    message: `There is no room for the skill "${name}": ${problem}.`,
    hint: 'Learn fewer skills by the `capacity` of induce(), or give fewer and smaller ones to skills(). Nothing was changed.',
  })

export const loops = (name: string, steps: number): SkillError =>
  new SkillError({
    code: 'skill/loops',
    message: `The skill "${name}" was still running after ${steps} steps.`,
    hint: 'Give its loops an end that they reach, and leave long work to a tool. `steps` allows more.',
  })

export const tooSlow = (name: string, deadlineMs: number): SkillError =>
  new SkillError({
    code: 'skill/too-slow',
    message: `The skill "${name}" ran for ${deadlineMs / 1_000} s, its tools' time not counted.`,
    hint: 'Work on less at once, or leave long work to a tool.',
  })

export const tooLarge = (name: string): SkillError =>
  new SkillError({
    code: 'skill/too-much-memory',
    message: `The skill "${name}" asked for more memory than a skill has.`,
    hint: 'Keep less: take what is needed of each result, and drop the rest.',
  })

export const outside = (name: string, what: string): SkillError =>
  new SkillError({
    code: 'skill/reaches-outside',
    message: `The skill "${name}" asks for "${what}", and a skill has no disk, no network, no modules and no clock.`,
    hint: "Take what it needs as a parameter, or get it by a tool of the episode: call('read', { path }).",
  })

export const undeclaredTool = (name: string, tool: string): SkillError =>
  new SkillError({
    code: 'skill/undeclared-tool',
    message: `The skill "${name}" calls "${tool}", which is not among the tools that it says it uses.`,
    hint: 'Name every tool that it calls in `uses`. A skill calls tools of the episode, and no other skill.',
  })

export const tooManyCalls = (name: string, most: number): SkillError =>
  new SkillError({
    code: 'skill/too-many-calls',
    message: `The skill "${name}" made ${most} calls of tools and asked for another.`,
    hint: 'Call fewer tools in one run, or raise `calls`.',
  })

export const broke = (name: string, problem: string): SkillError =>
  new SkillError({
    code: 'skill/threw',
    message: `The skill "${name}" stopped: ${problem}`,
    hint: 'Catch what a tool may say in the skill, or call it with other arguments.',
  })

export const unfitValue = (name: string, problem: string): SkillError =>
  new SkillError({
    code: 'skill/unfit-value',
    message: `The skill "${name}" would hand on what a tool answered, and that is not fit: ${problem}.`,
    hint: 'Call its tools one by one, look at what the last one answered, and give the next one the value that it needs.',
  })

export const badArguments = (name: string, problem: string): SkillError =>
  new SkillError({
    code: 'skill/bad-arguments',
    message: `The skill "${name}" was called with arguments that it does not take: ${problem}.`,
    hint: 'Call it with what its `parameters` say.',
  })

export const failedTest = (name: string, test: number, problem: string): SkillError =>
  new SkillError({
    code: 'skill/failed-test',
    message: `The skill "${name}" fails its test ${test + 1}: ${problem}.`,
    hint: 'Correct the skill, or its test, if what the tools say has changed.',
  })
