/** For the command and for `nest add` alone: no process of an application loads it. */
export { InputError } from './input-error.js';
export { type InitPlan, planProject } from './init-plan.js';
export { projectTypescript } from './project-typescript.js';
