import {
  Column,
  type ColumnOptions,
  type DataSource,
  type EntityMetadata,
  type EntitySchemaColumnOptions,
  type EntitySubscriberInterface,
  type ObjectLiteral,
} from 'typeorm';
import { ownsColumn } from '../../../libs/typeorm/src/generated-snowflake/generated-column.js';
import type { ColumnMetadata } from '../../../libs/typeorm/src/generated-snowflake/patches.js';
import type { GeneratedSnowflakeOptions } from '../../../libs/typeorm/src/generated-snowflake/generated-snowflake.decorator.js';
import type { PropertyForm } from './property-form.js';

const ASSIGNED = 'assigned by the application';

/**
 * The control: `int` keys without a transformer that a subscriber of three lines counts up. What a path costs in SELECTs
 * with these, it costs because of TypeORM.
 */
export const ordinaryKey: PropertyForm = {
  title: 'ordinary key',
  make: {
    generated: (options) => Column(columnOptions(options)),
    schemaColumn: columnOptions,
    keyType: 'int',
  },
  attach: countUp,
  isForm: Number.isSafeInteger,
  digits: String,
  fromDigits: (digits) => Number(digits.slice(-9)),
};

function columnOptions(options: GeneratedSnowflakeOptions = {}): EntitySchemaColumnOptions & ColumnOptions {
  const { name, unique, nullable, primary = true } = options;
  const given = Object.fromEntries(
    Object.entries({ name, unique, nullable }).filter(([, value]) => value !== undefined),
  );
  return { ...given, primary, type: 'int', update: false, comment: ASSIGNED };
}

function countUp(dataSource: DataSource): void {
  let last = 0;
  const counter: EntitySubscriberInterface<ObjectLiteral> = {
    beforeInsert: ({ entity, metadata }) => {
      if (!entity) return;
      for (const column of metadata.columns.filter((each) => isAssigned(metadata, each))) {
        if ((column.getEntityValue(entity) ?? null) === null) column.setEntityValue(entity, ++last);
      }
    },
  };
  dataSource.subscribers.unshift(counter);
}

/** Foreign keys inherit the comment. */
function isAssigned(metadata: EntityMetadata, column: ColumnMetadata): boolean {
  return column.comment === ASSIGNED && column.referencedColumn === undefined && ownsColumn(metadata, column);
}
