import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withOrmTable } from '../../orms/matrix';
import { withMutantTable } from '../../proof/mutants/show-mutants';
import { withEngineTable } from './engine-table';
import { withOptionTables } from './option-tables';
import { PICTURES } from './pictures/pictures';

const docs = join(__dirname, '../../../docs');
for (const name of readdirSync(docs).filter((each) => each.endsWith('.md'))) {
  const path = join(docs, name);
  writeFileSync(path, withOrmTable(withEngineTable(withOptionTables(readFileSync(path, 'utf8')))));
}
const proofs = join(__dirname, '../../README.md');
writeFileSync(proofs, withMutantTable(readFileSync(proofs, 'utf8')));

async function writePictures(): Promise<void> {
  for (const [name, draw] of Object.entries(PICTURES)) writeFileSync(join(docs, 'images', name), await draw());
}
void writePictures();
