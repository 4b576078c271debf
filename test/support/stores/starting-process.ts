import type { DataSourceOptions } from 'typeorm';
import { start } from './open-disposable.js';

/** A process that starts some times over, and says which worker ids it was given. */
async function main(dataSource: DataSourceOptions, starts: number): Promise<void> {
  const ids: number[] = [];
  for (let each = 0; each < starts; each++) ids.push((await start(dataSource)).workerId);
  console.log(JSON.stringify(ids));
}

void main(JSON.parse(process.env['RAINDROP_TEST_DATABASE']!) as DataSourceOptions, Number(process.argv[2]));
