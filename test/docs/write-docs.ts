import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withMutantTable } from '../mutants/show-mutants';
import { withOptionTables } from './option-tables';

const docs = join(__dirname, '../../docs');
for (const name of readdirSync(docs).filter((each) => each.endsWith('.md'))) {
  const path = join(docs, name);
  writeFileSync(path, withMutantTable(withOptionTables(readFileSync(path, 'utf8'))));
}
