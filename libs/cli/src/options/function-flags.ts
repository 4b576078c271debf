import type { Command } from 'commander';
import { InputError } from '../input-error.js';
import type { FlagValues } from './module-options.js';

/** The flags about a function that makes IDs, by the names that `databaseIdSql()` has for them. */
export const FUNCTION_FLAGS = { name: 'name', workerId: 'worker', grantTo: 'grant' } as const;

/** Lets a command take these flags. @param prefix what begins their descriptions */
export function withFunctionFlags(command: Command, prefix: string): Command {
  return command
    .option('--worker <id>', `${prefix} the worker id of the function (default: the highest one that was never used)`)
    .option('--name <function>', `${prefix} its name, also with a schema (default: raindrop_id)`)
    .option(
      '--grant <role>',
      `${prefix} a role that may call it, beside its owner; public for all (repeatable)`,
      collect,
    );
}

/** @throws InputError where such a flag is given without the one that asks for the function */
export function refuseFunctionFlags(flags: FlagValues, wanted: string): void {
  const given = Object.values(FUNCTION_FLAGS).find((name) => flags[name] !== undefined);
  if (given !== undefined) throw new InputError(`--${given} is for ${wanted}`);
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
