/** The extension: a function of the schema, the generator that it names, and the middleware that fills the rows. */

import type { KeyIds } from '../ids.js';
import {
  CODECS,
  type FieldParams,
  Fields,
  GENERATOR,
  paramsOf,
  type SnowflakesOptions,
  type Target,
  wrong,
} from './fields.js';
import { fillStatement, MissingId, type Parameters, type Statement } from './statements.js';

/** What Prisma 8 takes as an extension in `prisma.config.ts`, and as an extension and a middleware of a client. */
export interface SnowflakesExtension<Of extends Target = Target> {
  readonly kind: 'extension';
  readonly id: 'raindrop';
  readonly name: 'raindrop';
  /** Of what the extension writes into a contract, which stays the same from release to release. */
  readonly version: string;
  readonly familyId: 'sql';
  readonly targetId: Of;
  readonly controlMutationDefaults: Contribution;
  /** None of its own. */
  codecs(): [];
  /** The generator that the contract names: Prisma asks it for each row without an ID. */
  mutationDefaultGenerators(): readonly {
    readonly id: string;
    readonly stability: 'field';
    /** Returns what stands in the place of an ID until the statement is sent. */
    generate(params?: Record<string, unknown>): unknown;
  }[];
  /** Prisma calls it once for a client. */
  create(): { readonly familyId: 'sql'; readonly targetId: Of };
  /** Puts the IDs into a statement that returns rows. */
  beforeQuery(plan: Statement, context: { readonly contract: unknown }, params?: Parameters): Promise<void>;
  /** Puts the IDs into a statement that returns a count. */
  beforeExecute(plan: Statement, context: { readonly contract: unknown }, params?: Parameters): Promise<void>;
}

/** What it adds to the schema: `@default(snowflake())`. */
export interface Contribution {
  readonly generatorDescriptors: readonly { readonly id: string; readonly applicableCodecIds: readonly string[] }[];
  readonly defaultFunctionRegistry: ReadonlyMap<
    string,
    {
      readonly signature: object;
      readonly usageSignatures: readonly string[];
      /** Returns the default that the contract has for a field. */
      lower(input: { readonly context: Place }): {
        readonly ok: true;
        readonly value: {
          readonly kind: 'execution';
          readonly generated: { readonly kind: 'generator'; readonly id: string; readonly params: FieldParams };
        };
      };
    }
  >;
}

interface Place {
  readonly modelName: string;
  readonly fieldName: string;
  readonly columnCodecId?: string;
}

type Source = KeyIds | (() => KeyIds | undefined);

/**
 * Gives every row that is created an ID in each field with `@default(snowflake())`, unless the row has one: `create`,
 * `createAll`, `createAndCount`, `upsert`, what relations create inside of these and of `update`, the rows of join tables,
 * and `insert` of the SQL builder. Raw SQL is sent as it is. A statement that is sent again gets new IDs.
 *
 * ```prisma
 * model Order {
 *   id BigInt @id @default(snowflake())
 * }
 * ```
 *
 * The extension stands in `extensions` of `prisma.config.ts`, and in `extensions` and `middleware` of the client. Without the
 * first Prisma does not know the default, without the others the client or its first insert throws.
 *
 * @param given the service, or options; without them the open service `default`
 * @throws ConfigurationError for options that cannot work; the first statement throws it for fields that do not exist
 */
export function snowflakes<Of extends Target = 'postgres'>(
  given: Source | SnowflakesOptions<Of> = {},
): SnowflakesExtension<Of> {
  const options = isSource(given) ? { ids: given } : given;
  const fields = new Fields(options);
  const { target: targetId = 'postgres' as Of } = options;
  const fill: SnowflakesExtension['beforeQuery'] = (plan, { contract }, params) =>
    fillStatement(fields, plan, contract, params);
  return {
    kind: 'extension',
    id: 'raindrop',
    name: 'raindrop',
    version: '1.0.0',
    familyId: 'sql',
    targetId,
    controlMutationDefaults: CONTRIBUTION,
    codecs: () => [],
    mutationDefaultGenerators: () => [
      { id: GENERATOR, stability: 'field', generate: (params) => new MissingId(params as FieldParams) },
    ],
    create: () => ({ familyId: 'sql', targetId }),
    beforeQuery: fill,
    beforeExecute: fill,
  };
}

const CONTRIBUTION: Contribution = {
  generatorDescriptors: [{ id: GENERATOR, applicableCodecIds: CODECS }],
  defaultFunctionRegistry: new Map([
    [
      GENERATOR,
      {
        // No arguments: options of a field stand where the service is known.
        signature: {},
        usageSignatures: [`${GENERATOR}()`],
        lower: ({ context: { modelName, fieldName, columnCodecId } }) => ({
          ok: true,
          value: {
            kind: 'execution',
            generated: { kind: 'generator', id: GENERATOR, params: paramsOf(modelName, fieldName, columnCodecId) },
          },
        }),
      },
    ],
  ]),
};

function isSource(given: Source | SnowflakesOptions): given is Source {
  if (typeof given === 'function') return true;
  if (typeof given !== 'object' || given === null) {
    throw wrong('snowflakes()', given, 'must get an IdService, a function that returns one, or options');
  }
  return 'nextId' in given;
}
