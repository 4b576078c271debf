import type { ResolvedSnowflakeOptions } from '@raindrop/node/internal';
import { InputError } from '../input-error.js';

/** Of these another process may have the same worker id, or have had it a moment ago: nobody reserves. */
const UNRESERVED: readonly string[] = ['static', 'statefulSet', 'ip', 'machine'];

/** The names of what gives out worker ids, in the order in which it is asked. */
export function assignersOf({ assigner }: ResolvedSnowflakeOptions): string[] {
  return assigner.parts.map(({ use }) => (typeof use === 'string' ? use : use.name));
}

/** Whether worker ids, or some of them, come from rows of a database. */
export function usesDatabase(options: ResolvedSnowflakeOptions): boolean {
  return assignersOf(options).includes('database');
}

/** @throws InputError when worker ids do not come from rows of a database */
export function requireRows(command: string, options: ResolvedSnowflakeOptions): void {
  if (usesDatabase(options)) return;
  const names = assignersOf(options).join(', ');
  throw new InputError(`${command} is about the rows of workerIdAssigner: 'database', and the options name ${names}`);
}

/** @throws InputError when the running service, or the next call, could issue the same IDs */
export function refuseUnreserved(options: ResolvedSnowflakeOptions): void {
  const name = assignersOf(options).find((each) => UNRESERVED.includes(each));
  if (name !== undefined) throw mayRepeat(name);
}

/** @param name of the assigner */
export function mayRepeat(name: string): InputError {
  return new InputError(
    `next takes no worker id from '${name}': nobody reserves it, so a running service or the next call could issue the ` +
      `same IDs. Give options with workerIdAssigner: 'database' or redisWorkers()`,
  );
}
