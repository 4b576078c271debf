import type { IdTextOptions } from '@raindrop/core';
import { ID_FORMS, idTextOptions, oneOf, text } from '@raindrop/core/internal';

/** The name of a scalar, and the form of its IDs. */
export const snowflakeScalarOptions = {
  ...idTextOptions,
  /** The scalar's name in the schema. @range a name of GraphQL @defaultValue `Snowflake` */
  name: text({
    pattern: /^(?!__)[A-Za-z_]\w*$/,
    legal: 'a GraphQL name: letters, digits and _, not starting with a digit or __',
    default: 'Snowflake',
  }),
  /** The description in the schema. @range a string @defaultValue which texts are accepted */
  description: text({ pattern: /^[^]*$/, legal: 'a string' }),
  /**
   * The form in which resolvers get an ID: `decimal` digits, as entities hold them; a `bigint`; or the `text` that the
   * client sent, after a check.
   * @range `decimal`, `bigint`, `text` @defaultValue `decimal`; with a prefix `text`, as typed columns hold it
   */
  as: oneOf(ID_FORMS, { default: ({ prefix }: IdTextOptions) => (prefix === undefined ? 'decimal' : 'text') }),
};

/** The type of a property that holds an ID, and the form of its texts. */
export const isSnowflakeOptions = {
  ...idTextOptions,
  /** The type of the property. With `bigint` leave prefix and codec out. @range `text`, `bigint` @defaultValue `text` */
  as: oneOf(['text', 'bigint'], { default: 'text' }),
};
