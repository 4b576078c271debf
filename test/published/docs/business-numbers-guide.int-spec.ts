import * as typeorm from 'typeorm';
import { businessNumberTableMigration } from '../../../libs/typeorm/src/migrations/table-migrations.js';
import { businessNumber } from '../../../libs/typeorm/src/business-number/business-number.js';
import { businessNumberTableSql } from '../../../libs/node/src/business-number-table/business-number-table.js';
import { prepareBusinessNumbers } from '../../../libs/typeorm/src/business-number/prepare-business-numbers.js';
import { transactionWithRetries } from '../../../libs/typeorm/src/business-number/transaction-with-retries.js';
import { databaseKinds, testDatabase } from '../../support/servers/test-databases.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

interface Invoice {
  id?: number;
  tenant: string;
  amount: number;
  number?: string;
}

const Invoice = new typeorm.EntitySchema<Invoice>({
  name: 'invoice',
  columns: {
    id: { type: Number, primary: true, generated: true },
    tenant: { type: String, length: 20 },
    amount: { type: Number },
    number: { type: String, length: 30, nullable: true },
  },
});

it.each(databaseKinds)('the examples of docs/numbers.md#business-numbers run on %s', async (kind) => {
  const database = await testDatabase(kind);
  const options = { ...database.options, entities: [Invoice], synchronize: true };
  const dataSource = await new typeorm.DataSource(options).initialize();
  const scope = {
    Invoice,
    dataSource,
    businessNumber,
    businessNumberTableMigration,
    businessNumberTableSql,
    prepareBusinessNumbers,
    transactionWithRetries,
  };
  const [first, looks, table] = typescriptBlocks(readDocument('docs/numbers.md#business-numbers'));
  await runAsync(first!, scope);
  const year = new Date().getUTCFullYear();
  expect(await dataSource.getRepository(Invoice).find()).toMatchObject([{ number: `INV-${year}-000001` }]);
  expect(await runAsync(looks!, scope)).toEqual({ number: '202612/0001' });
  expect(Object.keys(await runAsync(table!, scope))).toEqual(['migrations', 'sql']);
  await dataSource.destroy();
  await database.drop();
});

/** A block with `await` at its top becomes the body of an async function that returns what the block exports. */
async function runAsync(block: string, scope: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
  const names = [...block.matchAll(/^export const (\w+)/gm)].map((match) => match[1]);
  const body = block.replace(/^export /gm, '');
  const { run } = runBlock(`export const run = async () => {\n${body}\nreturn { ${names.join(', ')} };\n};`, scope);
  return (run as () => Promise<Record<string, unknown>>)();
}
