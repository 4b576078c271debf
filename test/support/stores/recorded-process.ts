import { openIdService, type OpenIdServiceOptions } from '../../../libs/node/src/service/open-id-service.js';

/** A process that keeps a history, issues 1,000 IDs, prints them and its number, and goes on until a signal ends it. */
async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2]!) as OpenIdServiceOptions;
  const dbConfig = JSON.parse(process.env['RAINDROP_TEST_DATABASE']!) as never;
  const ids = await openIdService({ ...options, dbConfig });
  console.log(JSON.stringify({ pid: process.pid, ids: ids.nextIds(1_000).map(String) }));
  process.once('SIGTERM', () => void ids.close().then(() => process.exit()));
  setInterval(() => undefined, 60_000);
}

void main();
