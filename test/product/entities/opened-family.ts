import { DataSource, TypeORMError, type DataSourceOptions } from 'typeorm';
import { checkClaims } from './check-claims.js';
import type { EntityFamily } from './entity-family.js';
import type { Claim, EntityPath, PathSetting } from './entity-path.js';
import type { Outcome } from './path-table.js';
import type { PropertyForm } from './property-form.js';
import { StatementLog } from './statement-log.js';
import { storedTables, type StoredTables } from './stored-rows.js';

/** A family's entities in a database, ready for its paths, or refused at start. */
export class OpenedFamily {
  private constructor(
    private readonly setting: PathSetting<never>,
    private readonly refusal: unknown,
  ) {}

  static async open(family: EntityFamily, form: PropertyForm, database: DataSourceOptions): Promise<OpenedFamily> {
    const entities = family.build(form.make);
    const statements = new StatementLog();
    const options = { ...database, entities: Object.values(entities), logging: true, logger: statements };
    const dataSource = await new DataSource(options).initialize();
    let refusal: unknown;
    try {
      form.attach(dataSource);
      await dataSource.synchronize();
    } catch (error) {
      refusal = error;
    }
    const { manager } = dataSource;
    return new OpenedFamily({ dataSource, manager, entities: entities as never, form, statements }, refusal);
  }

  /** How many SELECTs the path costs, whether it succeeds or not. */
  async selectsOf(path: EntityPath): Promise<number> {
    await this.run(path).catch(failureOf);
    return this.setting.statements.count('SELECT');
  }

  /**
   * @param selects how many SELECTs it may cost
   * @param isExpected whether the path is known to fail so
   * @throws the path's own error when it is not expected, and when the path is silently wrong
   */
  async outcomeOf(
    path: EntityPath,
    selects: number | undefined,
    isExpected: (failure: Outcome) => boolean,
  ): Promise<Outcome> {
    const { dataSource, statements } = this.setting;
    if (this.refusal !== undefined) return known(this.refusal, isExpected);
    const before = await storedTables(dataSource);
    let claims: readonly Claim[];
    try {
      claims = await this.run(path);
    } catch (error) {
      const failure = known(error, isExpected);
      // Errors of ours leave nothing behind; those of the database come when something may have been prepared.
      if (failure.startsWith('refused')) expect(keysOf(await storedTables(dataSource))).toEqual(keysOf(before));
      return failure;
    }
    // Without its key an entity is new: where null makes TypeORM look, it need not.
    if (selects !== undefined) expect(statements.count('SELECT')).toBeLessThanOrEqual(selects);
    await checkClaims(this.setting, before, await storedTables(dataSource), claims);
    return 'yes';
  }

  close(): Promise<void> {
    return this.setting.dataSource.destroy();
  }

  private run(path: EntityPath): Promise<readonly Claim[]> {
    return this.setting.statements.during(() => path.run(this.setting));
  }
}

/** @throws the error itself when the test does not expect it */
function known(error: unknown, isExpected: (failure: Outcome) => boolean): Outcome {
  const failure = failureOf(error);
  if (!isExpected(failure)) throw error;
  return failure;
}

/** @throws the error itself when it comes from neither us, TypeORM nor the database */
function failureOf(error: unknown): Outcome {
  if (error instanceof Error && 'errorCode' in error) return `refused: ${String(error.errorCode)}`;
  if (error instanceof TypeORMError) return `fails: ${error.name}`;
  throw error;
}

function keysOf(tables: StoredTables): object {
  return Object.fromEntries([...tables].map(([table, rows]) => [table, [...rows.keys()].sort()]));
}
