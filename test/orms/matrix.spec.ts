import { readDocument } from '../published/docs/typescript-blocks.js';
import { recorded, recordedOrms, withOrmTable } from './matrix.js';

it('docs/write-paths.md has the table of what runs have recorded', () => {
  const document = readDocument('docs/write-paths.md');
  expect(document).toContain('<!-- orms -->');
  // Run `npm run docs` when it differs.
  expect(withOrmTable(document)).toBe(document);
});

it.each(recordedOrms())('no cell of %s is silently wrong: what the ORM itself gets wrong names an issue', (orm) => {
  const results = Object.values(recorded(orm).cells).flatMap((databases) =>
    Object.values(databases).flatMap((forms) => Object.values(forms)),
  );
  expect(results.length).toBeGreaterThan(100);
  expect(
    results.filter((result) => !/^(filled|kept|exact|by the database|-|refused: .+|wrong: .+#\d+)$/.test(result)),
  ).toEqual([]);
});
