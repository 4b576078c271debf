/**
 * IDs in GraphQL; needs `graphql`.
 *
 * @module @raindrop/nestjs/graphql
 */

import { requireSupported } from '@raindrop/node/internal';
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { InvalidIdError } from '@raindrop/core';
import { idText, type IdText, type OptionsOf, type ReadOptions, resolveOptions } from '@raindrop/core/internal';
import { snowflakeScalarOptions } from './http/id-text-options.js';

requireSupported('graphql', () => __filename);

/** The name of a scalar, and the form of its IDs. */
export interface SnowflakeScalarOptions extends OptionsOf<typeof snowflakeScalarOptions> {}

/**
 * Makes a scalar for IDs, which are texts on the wire. A client may send the one text that the codec writes, or a whole
 * number in the query itself, where every digit is kept. A number in JSON variables is refused: it may have lost
 * digits. A resolver may return bigints and texts, and no numbers.
 *
 * @throws ConfigurationError when an option is not legal
 */
export function snowflakeScalar(options: SnowflakeScalarOptions = {}): GraphQLScalarType<bigint | string, string> {
  const { name, description, as, text, isDecimal } = read(options);
  const refused = (node?: ValueNode): GraphQLError =>
    new GraphQLError(`${name} ${text.rule}`, { nodes: node, extensions: { code: 'INVALID_ID' } });
  const parse = (given: unknown, node?: ValueNode): bigint | string => {
    const id = typeof given === 'bigint' ? legal(given, text) : text.read(given);
    if (id === undefined) throw refused(node);
    if (as === 'bigint') return id;
    return as === 'decimal' ? id.toString() : text.codec.encode(id);
  };
  return new GraphQLScalarType<bigint | string, string>({
    name,
    description: description ?? `An ID as a string: ${text.legal}`,
    parseValue: (given) => parse(given),
    parseLiteral: (node) => {
      const isText = node.kind === Kind.STRING || (node.kind === Kind.INT && isDecimal);
      if (!isText) throw refused(node);
      return parse(node.value, node);
    },
    serialize: (given) => {
      // A resolver holds an ID as digits, or as the text of the codec.
      const digits = typeof given === 'string' && as !== 'text' && /^(0|[1-9]\d{0,18})$/.test(given);
      const id = typeof given === 'bigint' || digits ? legal(BigInt(given), text) : text.read(given);
      if (id === undefined)
        throw new GraphQLError(`${name} cannot be serialized from a ${typeof given} that is not an ID`);
      return text.codec.encode(id);
    },
  });
}

/** {@link snowflakeScalar} for decimal texts, under the name `Snowflake`. */
export const SnowflakeScalar: GraphQLScalarType<bigint | string, string> = snowflakeScalar();

function read(
  options: SnowflakeScalarOptions,
): ReadOptions<typeof snowflakeScalarOptions> & { readonly text: IdText; readonly isDecimal: boolean } {
  const resolved = resolveOptions(snowflakeScalarOptions, options);
  const { prefix, codec } = resolved;
  const isDecimal = prefix === undefined && (codec === undefined || codec === 'decimal');
  return { ...resolved, text: idText(resolved), isDecimal };
}

function legal(id: bigint, { codec }: IdText): bigint | undefined {
  try {
    codec.encode(id);
    return id;
  } catch (error) {
    if (error instanceof InvalidIdError) return undefined;
    throw error;
  }
}
