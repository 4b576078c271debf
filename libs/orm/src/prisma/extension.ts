/** The extension of a client: it gives the rows of each call their IDs. */

import type { KeyIds } from '../ids.js';
import { keysOf, modelsOf, noteExtended, type PrismaClientLike, type SnowflakeFields, wrong } from './models.js';
import { type Data, MissingIds, WRITES } from './writes.js';

/** What `$extends()` of every generated client accepts. It changes no type of the client. */
export type SnowflakesExtension = (
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each generated client has a type of its own
  client: any,
) => { readonly $extends: { readonly extArgs: Unchanged } };

type Unchanged = { [Each in 'result' | 'model' | 'query' | 'client']: Record<never, never> };

/**
 * Gives every row that is created through the client an ID, unless it has one: `create`, `createMany`,
 * `createManyAndReturn`, `upsert`, and what is created inside of these and of `update`, at any depth. Raw SQL is sent as
 * it is. The arguments of a call are copied: the same object gives new IDs each time.
 *
 * ```prisma
 * model Order {
 *   id BigInt @id @default(dbgenerated())
 * }
 * ```
 *
 * @param given the service, or options; without them the open service `default`
 * @throws ConfigurationError for options that cannot work, and from `$extends()` for models and fields that do not exist
 */
export function snowflakes(given: Source | SnowflakeFields = {}): SnowflakesExtension {
  const { models: listed = {}, ...shared } = isSource(given) ? { ids: given } : given;
  keysOf('snowflakes()', 'String', shared);
  return (client: PrismaClientLike) => {
    const models = modelsOf(client, shared, listed);
    const extended = client.$extends({
      name: '@raindrop/orm',
      query: {
        $allModels: {
          async $allOperations({ model, operation, args, query, __internalParams: params }: Call) {
            const write = WRITES.get(operation);
            if (write === undefined) return query(args);
            const missing = new MissingIds();
            const filled = write(models.get(model)!, args, missing);
            await missing.fill();
            // Prisma keeps the arguments in an object that all runs of a call share. An extension may run the call twice at
            // once: with one object both runs would send the IDs of the later one.
            const own = params && { ...params };
            const result = await query(filled as Data, own);
            // Extensions of results read in it which relations were asked for.
            if (own !== undefined) params!.args = own.args;
            return result;
          },
        },
      },
    }) as ReturnType<SnowflakesExtension>;
    noteExtended(extended, client, models);
    return extended;
  };
}

interface Call {
  readonly model: string;
  readonly operation: string;
  readonly args: Data;
  readonly query: (args: Data, params?: Params) => Promise<unknown>;
  readonly __internalParams?: Params;
}

interface Params {
  args: unknown;
}

type Source = KeyIds | (() => KeyIds | undefined);

function isSource(given: Source | SnowflakeFields): given is Source {
  if (typeof given === 'function') return true;
  if (typeof given !== 'object' || given === null) {
    throw wrong('snowflakes()', given, 'must get an IdService, a function that returns one, or options');
  }
  return 'nextId' in given;
}
