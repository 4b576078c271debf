import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withOrmTable } from '../../orms/matrix';
import { withMutantTable } from '../../proof/mutants/show-mutants';
import { withEngineTables } from './engine-table';
import { withOptionTables } from './option-tables';
import { PICTURES } from './pictures/pictures';

const docs = join(__dirname, '../../../docs');
const pages = readdirSync(docs).filter((each) => each.endsWith('.md'));
for (const name of [...pages, 'contributing/proofs.md']) {
  const path = join(docs, name);
  writeFileSync(path, withOrmTable(withEngineTables(withOptionTables(readFileSync(path, 'utf8')))));
}
const proofs = join(__dirname, '../../README.md');
writeFileSync(proofs, withMutantTable(readFileSync(proofs, 'utf8')));

async function writePictures(): Promise<void> {
  for (const [name, draw] of Object.entries(PICTURES)) writeFileSync(join(docs, 'images', name), await draw());
}
void writePictures();
