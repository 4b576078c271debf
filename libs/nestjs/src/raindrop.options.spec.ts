import { ConfigurationError } from '@raindrop/core';
import { resolveRaindropOptions } from './raindrop.options.js';

const GIVEN = { startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };

function problemsOf(options: object): ConfigurationError['problems'] {
  try {
    resolveRaindropOptions({ ...GIVEN, ...options }, Date.UTC(2026, 0, 1));
  } catch (error) {
    return (error as ConfigurationError).problems;
  }
  return [];
}

it.each([
  [{ name: 'orders' }, 'name', 'next to useFactory'],
  [{ isGlobal: false }, 'isGlobal', 'next to useFactory'],
  [{ dataSource: 'orders' }, 'dataSource', 'forRootAsync({ dataSource: ..., useFactory })'],
  [{ checkShutdownHooks: 'no' }, 'checkShutdownHooks', 'true or false'],
  [{ lint: 'loud' }, 'lint', "'error', 'warn', 'off'"],
  [
    { idSource: { open: () => undefined }, checkShutdownHooks: false },
    'checkShutdownHooks',
    'with idSource there is nothing to release',
  ],
])('The module refuses %j alone, by name, and says what is legal', (options, option, says) => {
  const problems = problemsOf(options);
  expect(problems.map((each) => each.option)).toEqual([option]);
  expect(problems[0]!.message).toContain(says);
});

it('The module names what is wrong among its own options and the service’s together', () => {
  expect(problemsOf({ lint: 'loud', leaseMs: -1 }).map((each) => each.option)).toEqual(
    expect.arrayContaining(['lint', 'leaseMs']),
  );
});
