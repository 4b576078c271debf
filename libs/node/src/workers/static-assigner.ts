import { parseArgs } from 'node:util';
import {
  ConfigurationError,
  showValue,
  type AssignedWorkerId,
  type WorkerIdAssigner,
  type WorkerIdRequest,
} from '@raindrop/core';

/** Where a worker id may be given by hand, besides the option. */
export interface StaticSources {
  /** The arguments of the program, without its own name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const ARGUMENT = 'raindrop.workerId';
const VARIABLE = 'RAINDROP_WORKER_ID';

/**
 * A worker id that is given by hand: `--raindrop.workerId=7`, else `RAINDROP_WORKER_ID`, else the option `workerId`. So one
 * configuration serves all processes. Nothing checks that it is the only one.
 */
export class StaticAssigner implements WorkerIdAssigner {
  readonly name = 'static';
  readonly guarantee = 'declared';

  constructor(
    private readonly option: number | undefined,
    private readonly sources: StaticSources = { args: process.argv.slice(2), env: process.env },
  ) {}

  /** @throws ConfigurationError for one that is no worker id of the range */
  acquire({ workers }: WorkerIdRequest): Promise<AssignedWorkerId | undefined> {
    const found = this.find();
    if (found === undefined) return Promise.resolve(undefined);
    const [place, given] = found;
    const workerId = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (workerId >= workers.min && workerId <= workers.max) return Promise.resolve({ workerId });
    const legal = `an integer from ${workers.min} to ${workers.max}, the worker ids of this service`;
    const problem = { option: place, given: showValue(given), message: `must be ${legal}` };
    return Promise.reject(new ConfigurationError([problem]));
  }

  private find(): readonly [place: string, given: string] | undefined {
    const argument = argumentOf(this.sources.args);
    if (argument !== undefined) return [`--${ARGUMENT}`, argument];
    const variable = this.sources.env[VARIABLE];
    // An empty variable is how a shell leaves one out.
    if (variable !== undefined && variable !== '') return [VARIABLE, variable];
    return this.option === undefined ? undefined : ['workerId', String(this.option)];
  }
}

function argumentOf(args: readonly string[]): string | undefined {
  const { values } = parseArgs({ args: [...args], options: { [ARGUMENT]: { type: 'string' } }, strict: false });
  const given = values[ARGUMENT];
  return given === undefined ? undefined : String(given);
}
