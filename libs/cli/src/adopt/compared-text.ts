/** What a migration brings along: the obstacles of the moment at which it runs, and what its tables have. */
export const COMPARED = `
async function asked(runner: QueryRunner, statements: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const sql of statements) {
    const rows = (await runner.query(sql)) as { what: string }[];
    found.push(...rows.map(({ what }) => String(what)));
  }
  return found;
}

/** Foreign keys, checks, indexes, triggers, columns, and how many rows. */
async function contents(runner: QueryRunner): Promise<string[]> {
  const obstacles = await asked(runner, OBSTACLES);
  if (obstacles.length > 0) throw new Error(\`nothing was changed: \${obstacles.join('; ')}\`);
  return asked(runner, CONTENTS);
}

function compare(before: string[], after: string[]): void {
  const lost = [...new Set(before)].filter((each) => !after.includes(each));
  if (lost.length > 0) throw new Error(\`after the change these are not as they were: \${lost.join('; ')}\`);
}
`;
