/**
 * For the command and for `nest add` alone: no process of an application loads it. Names change without notice.
 *
 * @module @raindrop/node/nest-project
 */
export { InputError } from './input-error.js';
export { type InitPlan, planProject } from './init-plan.js';
export { projectTypescript } from './project-typescript.js';
