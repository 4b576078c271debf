/**
 * IDs in schemas of Zod; needs `zod`.
 *
 * @module @raindrop/nestjs/zod
 */

import { requireSupported } from '@raindrop/node/internal';
import { type IdSchemaOptions, idSchema, type ParsedIdForm, type StandardIdSchema } from '@raindrop/core';
import { type HeldId, idText, type IdTextOf } from '@raindrop/core/internal';
import { z } from 'zod';

requireSupported('zod', () => __filename);

/** A codec of Zod between the text that clients see and the ID that a program holds. */
export type ZodId<Id, Text extends string = string> = z.ZodCodec<z.ZodType<Text, string>, z.ZodType<Id, Id>>;

/**
 * Makes a codec of Zod for IDs. Parsing accepts what `ParseIdPipe` accepts with the same options, and says the same.
 * `z.invertCodec()` is the other direction, for answers.
 *
 *     const orderId = zodId({ codec: orderIds });
 *     const NewReturn = z.object({ order: orderId }); // k18E13pR0knvC becomes 30077675337940996
 *     const OrderView = z.object({ id: z.invertCodec(orderId) }); // and the reverse
 *
 * The program holds an ID in exactly one form, `as`: with `bigint`, a row whose ID is a string is refused. The message of
 * an issue does not show the ID. In OpenAPI the text has type, pattern, length and an example.
 *
 * @throws ConfigurationError when an option is not legal
 */
export function zodId<
  const As extends ParsedIdForm | undefined = undefined,
  const Prefix extends string | undefined = undefined,
>(options: IdSchemaOptions<As, Prefix> = {}): ZodId<HeldId<As, Prefix>, IdTextOf<Prefix>> {
  const schema = idSchema(options);
  const { jsonSchema } = schema['~standard'];
  const { rule } = idText(options);
  const text = z.string(rule).meta(jsonSchema.input({ target: 'draft-2020-12' }));
  const held = options.as === 'bigint' ? z.bigint() : z.string().meta(jsonSchema.output({ target: 'draft-2020-12' }));
  const codec = z.codec(text, held as z.ZodType<unknown, unknown>, {
    decode: (value, context) => convert(schema, value, context),
    encode: (value, context) => convert(schema.encoder, value, context) as string,
  });
  return codec as unknown as ZodId<HeldId<As, Prefix>, IdTextOf<Prefix>>;
}

function convert<Output>(
  schema: StandardIdSchema<unknown, Output>,
  value: unknown,
  context: z.core.ParsePayload,
): Output {
  const result = schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  context.issues.push({ code: 'custom', message: result.issues[0].message, input: value });
  return z.NEVER;
}
