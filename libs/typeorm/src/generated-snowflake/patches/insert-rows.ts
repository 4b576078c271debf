import { InsertQueryBuilder, type DataSource, type EntityMetadata } from 'typeorm';
import { dataSourceOf } from '../../connection/data-source-of.js';
import { generatedColumnsOf } from '../generated-column.js';
import { rowClaimsOf, type InsertRun } from '../row-claims.js';

const INSTALLED = Symbol.for('@raindrop/typeorm:insert-rows');

/** What is used of a query builder. */
interface Builder {
  readonly dataSource: DataSource;
  readonly expressionMap: {
    readonly mainAlias?: { readonly hasMetadata: boolean; readonly metadata: EntityMetadata };
    readonly callListeners: boolean;
    valuesSet?: object | readonly object[];
  };
  execute: (this: Builder) => Promise<unknown>;
  [INSTALLED]?: true;
}

/**
 * Replaces `execute` of the query builders that insert: each place of their values is a row of its own. An object that
 * stands for more rows than one describes the first of them; the others are written from copies, as TypeORM's
 * subscribers can fill an object only once.
 */
export function separateRows(): void {
  const builders = InsertQueryBuilder.prototype as unknown as Builder;
  if (builders[INSTALLED] === true) return;
  Object.defineProperty(builders, INSTALLED, { value: true });
  const { execute } = builders;
  builders.execute = function () {
    const { mainAlias, callListeners, valuesSet } = this.expressionMap;
    if (!callListeners || mainAlias?.hasMetadata !== true || typeof valuesSet !== 'object') return execute.call(this);
    const columns = generatedColumnsOf(mainAlias.metadata);
    return columns.length === 0 ? execute.call(this) : executeRows(this, valuesSet, columns, () => execute.call(this));
  };
}

async function executeRows(
  builder: Builder,
  given: object | readonly object[],
  columns: ReturnType<typeof generatedColumnsOf>,
  execute: () => Promise<unknown>,
): Promise<unknown> {
  let isOver = false;
  const run: InsertRun = { builder: tokenOf(builder), isOver: () => isOver };
  const claims = rowClaimsOf(dataSourceOf(builder));
  const rows = [given].flat().map((each) => claims.begin(each, columns, run));
  builder.expressionMap.valuesSet = rows;
  try {
    return await execute();
  } finally {
    isOver = true;
    claims.end(rows);
    builder.expressionMap.valuesSet = given;
  }
}

const TOKENS = new WeakMap<Builder, object>();

/** Stands for a builder: its objects, which outlive it, shall not keep it. */
function tokenOf(builder: Builder): object {
  const present = TOKENS.get(builder);
  if (present !== undefined) return present;
  const token = {};
  TOKENS.set(builder, token);
  return token;
}
