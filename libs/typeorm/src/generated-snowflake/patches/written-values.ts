import type { DataSource } from 'typeorm';
import { attachedTransformer, type ColumnMetadata } from './attached-transformer.js';

const CHECKS_VALUES = Symbol.for('@raindrop/typeorm:written-values');

type Driver = Pick<DataSource['driver'], 'preparePersistentValue'> & { [CHECKS_VALUES]?: true };

/**
 * Replaces `driver.preparePersistentValue`: what is written to an attached column passes its `write` first.
 *
 * A transformer cannot tell what is written from what is compared. Null must be refused in an insert that calls no
 * subscribers, for a lenient MariaDB would store 0, and may be looked for; a decimal text may be compared with a typed
 * ID, and must not become one.
 */
export function checkWrittenValues(driver: Driver): void {
  if (driver[CHECKS_VALUES] === true) return;
  Object.defineProperty(driver, CHECKS_VALUES, { value: true });
  const prepare = driver.preparePersistentValue.bind(driver);
  driver.preparePersistentValue = (value: unknown, column: ColumnMetadata) => {
    const attached = attachedTransformer(column);
    return prepare(attached === undefined ? value : attached.write(value), column) as unknown;
  };
}
