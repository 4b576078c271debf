import { MissingForTests } from '../jest/missing-for-tests';
import { serverFacts, ServerKind } from './server-kind';

/** Tells the test processes, as JSON, which servers could not be had and why. */
export const MISSING_VARIABLE = 'RAINDROP_TEST_MISSING';

/**
 * The URL of a server of this run.
 *
 * @throws MissingForTests when it could not be had; Error when the run had no global set-up.
 */
export function serverUrl(kind: ServerKind): string {
  const { title, variable } = serverFacts[kind];
  const url = process.env[variable];
  if (url) {
    return url;
  }
  const missing = JSON.parse(process.env[MISSING_VARIABLE] ?? '{}') as Partial<Record<ServerKind, string>>;
  if (missing[kind] !== undefined) {
    throw new MissingForTests(title, missing[kind]);
  }
  throw new Error(
    `no ${title} in this run: ${variable} is not set. Run the test with jest.config.cjs (npm test), whose global ` +
      'set-up finds or starts the servers, or set the variable.',
  );
}
