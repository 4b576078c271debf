import type { EntityPath } from './entity-path.js';

/** `yes`, or the code of the typed error that refuses the path, or the name of TypeORM's error that it ends in. */
export type Outcome = 'yes' | `refused: ${string}` | `fails: ${string}`;

/** What became of every path, on every database, with every form of the property. */
export class PathTable {
  private readonly measured = new Map<string, Map<string, string>>();

  constructor(
    private readonly sections: Readonly<Record<string, readonly EntityPath[]>>,
    private readonly columns: readonly string[],
    private readonly databases: readonly string[],
  ) {}

  note(path: string, column: string, database: string, value: Outcome | number | '-'): void {
    const cell = `${path}|${column}`;
    if (!this.measured.has(cell)) this.measured.set(cell, new Map());
    this.measured.get(cell)!.set(database, String(value));
  }

  /**
   * Markdown. Databases are named where they differ.
   *
   * @param otherwise gives what stands for a cell that did not run in this tier
   */
  toString(otherwise: (path: string, column: string, databaseName: string) => string = () => NOT_MEASURED): string {
    const { columns } = this;
    const lines = Object.entries(this.sections).flatMap(([section, paths]) => [
      line([`**${section}**`, ...columns.map(() => '')]),
      ...paths.map(({ name }) => line([name, ...columns.map((column) => this.cell(name, column, otherwise))])),
    ]);
    return [line(['path', ...columns]), `|${'---|'.repeat(columns.length + 1)}`, ...lines].join('\n');
  }

  private cell(path: string, column: string, otherwise: (...cell: [string, string, string]) => string): string {
    const values = this.measured.get(`${path}|${column}`);
    const all = this.databases.map((database) => {
      const value = values?.get(database);
      return value === undefined ? otherwise(path, column, NAMES[database] ?? database) : show(value);
    });
    const usual = all.find((value, index) => all.indexOf(value) < index) ?? all[0]!;
    const unusual = this.databases.flatMap((database, index) =>
      all[index] === usual ? [] : [`${NAMES[database] ?? database}: ${all[index]!}`],
    );
    return [usual, ...unusual].join('; ');
  }
}

/** What stands in a cell whose test did not run, or was wrong. */
export const NOT_MEASURED = 'not measured';

/** How the table names a database. */
export const NAMES: Readonly<Record<string, string>> = { mariadb: 'MariaDB', postgres: 'PostgreSQL', sqlite: 'SQLite' };

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function show(outcome: string): string {
  return outcome.replace(/: (\w+)$/, ': `$1`');
}
