import { runSuite } from './suite.js';

it('loads from its tarball', async () => {
  expect(await runSuite('kysely', 'loads')).toEqual({ loaded: 'InsertRefusedError' });
});
