import { DatabaseCallError } from './database-call-error.js';
import { DatabaseRefusedError } from './database-refused-error.js';
import type { Dialect, Statement } from './dialect.js';
import type { OwnDatabase } from './own-database.js';
import type { StatementResult } from './run-sql.js';
import { execute } from './statement.js';

/** A text of no characters. */
const NOTHING = "''";

/** Runs a statement that asks for the server's term, without it where the server can't tell. */
export async function askWithTerm(
  database: OwnDatabase,
  statement: (dialect: Dialect) => Statement,
): Promise<StatementResult> {
  const { dialect } = database;
  const run = (): Promise<StatementResult> => database.call((each) => execute(each, statement(database.dialect)));
  try {
    return await run();
  } catch (error) {
    // The statement may want other things that are not there.
    if (lacksTerm(dialect, error) && dialect === database.dialect && (await isMute(database))) {
      database.dialect = { ...dialect, term: NOTHING, termOfWrite: NOTHING, sessionAgeMs: '0' };
    }
    if (dialect === database.dialect) throw error;
    return run();
  }
}

function lacksTerm(dialect: Dialect, error: unknown): boolean {
  const isOurs = error instanceof DatabaseCallError || error instanceof DatabaseRefusedError;
  return isOurs && dialect.lacksTerm(error.driverCode);
}

/** Whether the server cannot even tell its term alone. */
async function isMute(database: OwnDatabase): Promise<boolean> {
  const { term, sessionAgeMs } = database.dialect;
  try {
    await database.call((run) => run(`SELECT ${term} AS term, ${sessionAgeMs} AS age`));
    return false;
  } catch (error) {
    return lacksTerm(database.dialect, error);
  }
}
