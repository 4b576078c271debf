/** What a migration for SQLite brings along: TypeORM builds the table anew, and this keeps what it would lose. */
export const REBUILD = `
/** SQLite changes a column by building its table anew. */
async function rebuild(runner: QueryRunner, name: string, column: string, isGenerated: boolean): Promise<void> {
  const [pragma] = (await runner.query('PRAGMA foreign_keys')) as { foreign_keys: number }[];
  if (Number(pragma?.foreign_keys) !== 0) {
    // TypeORM turns it off before an up, and inside a transaction, where that is too late, before a down.
    throw new Error(
      'PRAGMA foreign_keys is ON: dropping the old table would delete what refers to it. ' +
        'Revert with: typeorm migration:revert --transaction none',
    );
  }
  // Of indexes TypeORM knows columns only, of triggers nothing: they are made again as they were.
  const parts = "FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name = ?";
  const kept = (await runner.query(\`SELECT type, name, sql \${parts}\`, [name])) as Record<'type' | 'name' | 'sql', string>[];
  for (const each of kept) await runner.query(\`DROP \${each.type} "\${each.name.replace(/"/g, '""')}"\`);
  const table = await runner.getTable(name);
  const before = table?.findColumnByName(column);
  if (table === undefined || before === undefined) throw new Error(\`there is no \${name}.\${column}\`);
  for (const link of table.foreignKeys) {
    // REFERENCES without a column means the primary key, which TypeORM does not fill in.
    if (link.referencedColumnNames.every(Boolean)) continue;
    const parent = await runner.getTable(link.referencedTableName);
    link.referencedColumnNames = (parent?.primaryColumns ?? []).map((each) => each.name);
  }
  const after = before.clone();
  after.type = isGenerated ? 'integer' : 'bigint';
  // Of an INTEGER PRIMARY KEY it need not be said; any other would take rows without a key.
  if (before.isPrimary) after.isNullable = false;
  after.isGenerated = isGenerated;
  after.generationStrategy = isGenerated ? 'increment' : undefined;
  // Views and triggers elsewhere name the table, which is not there for a moment.
  await runner.query('PRAGMA legacy_alter_table = ON');
  try {
    await runner.changeColumn(table, before, after);
    for (const each of kept) await runner.query(each.sql);
  } finally {
    await runner.query('PRAGMA legacy_alter_table = OFF');
  }
}
`;
