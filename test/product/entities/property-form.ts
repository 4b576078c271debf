import { createLayout, Layout, typedId } from '@raindrop/core';
import { SnowflakeGenerator } from '@raindrop/core/internal';
import type { DataSource } from 'typeorm';
import { StaticTenure } from '../../../libs/core/src/generator/tenure.js';
import { attachSnowflakes } from '../../../libs/typeorm/src/generated-snowflake/attach-snowflakes.js';
import {
  GeneratedSnowflake,
  type GeneratedSnowflakeOptions,
  snowflakeColumn,
} from '../../../libs/typeorm/src/generated-snowflake/generated-snowflake.decorator.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import type { ColumnMaker } from './entity-family.js';

/** What the property of a generated column holds, as far as the compiler is concerned. */
export type Id = string | number | bigint;

/** One of the ways in which a property holds an ID. */
export interface PropertyForm {
  readonly title: string;
  readonly make: ColumnMaker;
  /** Has IDs filled in from now on. */
  attach(dataSource: DataSource): void;
  isForm(value: unknown): boolean;
  /** The digits that the database has to store. */
  digits(value: Id): string;
  fromDigits(digits: string): Id;
}

/** IDs of 60 bits: rounded wherever they pass through a JavaScript number. */
export const wideLayout = createLayout(
  { timeUnit: 'millisecond', startTimeStamp: '2024-01-01', timeStampLength: 41, workIdLength: 10, endBitsLength: 1 },
  Date.now(),
);

/** IDs below 2^53, with room for thousands in one second. */
const narrowLayout = new Layout({
  fields: [
    { name: 'time', role: 'time', bits: 31 },
    { name: 'worker', role: 'worker', bits: 3 },
    { name: 'sequence', role: 'sequence', bits: 18 },
  ],
  unitMs: 1_000,
  epochMs: Date.UTC(2024, 0, 1),
});

const typed = typedId('order');

export const propertyForms: readonly PropertyForm[] = [
  {
    ...generatedAs({ as: 'string' }, wideLayout),
    title: 'string',
    isForm: (value) => typeof value === 'string' && /^\d{17,19}$/.test(value),
    digits: String,
    fromDigits: String,
  },
  {
    ...generatedAs({ as: 'number' }, narrowLayout),
    title: 'number',
    isForm: Number.isSafeInteger,
    digits: String,
    fromDigits: Number,
  },
  {
    ...generatedAs({ as: 'bigint' }, wideLayout),
    title: 'bigint',
    isForm: (value) => typeof value === 'bigint',
    digits: String,
    fromDigits: BigInt,
  },
  {
    ...generatedAs({ prefix: 'order' }, wideLayout),
    title: 'typed prefix',
    isForm: (value) => typeof value === 'string' && value.startsWith('order_'),
    digits: (value) => typed.decode(value as string).toString(),
    fromDigits: (digits) => typed.encode(BigInt(digits)),
  },
];

function generatedAs(form: GeneratedSnowflakeOptions, layout: Layout): Pick<PropertyForm, 'make' | 'attach'> {
  const make: ColumnMaker = {
    generated: (options) => GeneratedSnowflake({ ...form, ...options }),
    schemaColumn: (options) => snowflakeColumn({ ...form, ...options }),
    keyType: 'bigint',
  };
  return { make, attach: (dataSource) => void attachSnowflakes(dataSource, idSource(layout)) };
}

/** Issues IDs for the columns that name no service. */
export function idSource(layout: Layout): Parameters<typeof attachSnowflakes>[1] {
  const generator = new SnowflakeGenerator({ layout, tenure: new StaticTenure(1) }, systemPorts('exact'));
  return {
    name: 'default',
    layout,
    nextId: (code) => generator.nextId(code),
    nextString: (code) => generator.nextString(code),
    nextIdAsync: (code) => generator.nextIdAsync(code),
  };
}
