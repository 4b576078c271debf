import { ConfigurationError } from '@raindrop/core';
import { isSegmentMode, resolveSegmentModuleOptions } from './resolve-options.js';

const problemsOf = (options: object): readonly { option: string; message: string }[] => {
  try {
    resolveSegmentModuleOptions({ idMode: 'numberSection', ...options });
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
};

describe('The options of segment mode', () => {
  it('are complete without any', () => {
    expect(resolveSegmentModuleOptions({ idMode: 'numberSection' })).toMatchObject({
      idMode: 'numberSection',
      codes: ['default'],
      autoCreateCode: true,
      defaultStep: 1_000,
      skipAfterFailover: 10_000_000,
      tableName: 'raindrop_segment',
      sharded: undefined,
      redis: undefined,
      segments: { prefetchBelow: 0.9, maxStep: 1_000_000, chain: undefined },
    });
  });

  it.each(['numberSection', 'NUMBERSECTION', 'numbersection'])('are meant by idMode %s', (idMode) => {
    expect(isSegmentMode({ idMode })).toBe(true);
  });

  it.each([{}, { idMode: 'snowflake' }, { idMode: 1 }])('are not meant by %j', (options) => {
    expect(isSegmentMode(options)).toBe(false);
  });

  it.each([
    [{ defaultStep: 0 }, 'defaultStep'],
    [{ codes: 'order' }, 'codes'],
    [{ codes: [''] }, 'codes'],
    [{ codes: ['x'.repeat(129)] }, 'codes'],
    [{ sharded: 'yes' }, 'sharded'],
    [{ sharded: { table: 'id_alloc' } }, 'sharded.table'],
    [{ sharded: { tableName: 'no table' } }, 'sharded.tableName'],
    [{ sharded: { apps: [{ id: 256, name: 'a', description: '' }] } }, 'sharded.apps'],
    [{ chain: { safeDistance: 0 } }, 'chain.safeDistance'],
    [{ redis: { connection: 'redis://user:secret@host' } }, 'redis'],
    [{ timeStampLength: 33 }, 'timeStampLength'],
    [{ idSource: 'redis://user:secret@host' }, 'idSource'],
    [{ workerIdAssigner: { openStore: () => ({}), url: 'redis://user:secret@host' } }, 'workerIdAssigner'],
    [{ name: 'numbers' }, 'name'],
    [{ heartbeatIntervalMs: 10 }, 'heartbeatIntervalMs'],
  ])('refuse %j, naming it', (options, option) => {
    const problems = problemsOf(options);
    expect(problems.map((each) => each.option)).toEqual([option]);
    expect(JSON.stringify(problems)).not.toContain('secret');
  });

  it('name every problem at once', () => {
    expect(problemsOf({ maxStep: 0, codes: 5, lint: 'never' }).map(({ option }) => option)).toEqual([
      'maxStep',
      'codes',
      'lint',
    ]);
  });
});
