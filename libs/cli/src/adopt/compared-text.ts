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
  for (const sql of OBSTACLES) {
    const obstacles = await asked(runner, [sql]);
    if (obstacles.length > 0) throw new Error(\`nothing was changed: \${obstacles.join('; ')}\`);
  }
  return asked(runner, CONTENTS);
}

function compare(before: string[], after: string[]): void {
  const lost = [...new Set(before)].filter((each) => !after.includes(each));
  if (lost.length > 0) throw new Error(\`after the change these are not as they were: \${lost.join('; ')}\`);
}
`;

/** The same for databases that do not take back what was done before an error. */
export const RESTORED = `
/** Makes again what was dropped, as far as that goes. @throws the error, which names what is missing now */
async function restore(runner: QueryRunner, before: string[], { message }: Error): Promise<never> {
  for (const sql of AGAIN) await (runner.query(sql) as Promise<unknown>).catch(() => undefined);
  const after = await asked(runner, CONTENTS);
  const lost = [...new Set(before)].filter((each) => !after.includes(each));
  if (lost.length === 0) throw new Error(\`\${message}; all that was dropped is there again\`);
  const cure = AGAIN.join('; ');
  throw new Error(\`\${message}; these are not as they were: \${lost.join('; ')}. The foreign keys are made again by: \${cure}\`);
}
`;
