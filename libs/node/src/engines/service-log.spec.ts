import { ClosedError, type LeaseEvent, NotReadyError } from '@raindrop/core';
import { logLease } from './service-log.js';

function logged(...events: LeaseEvent[]): string[] {
  const lines: string[] = [];
  const write =
    (level: string) =>
    (message: string, ...rest: unknown[]) =>
      lines.push(`${level} ${String(rest.at(-1))} ${message}`);
  const logger = { log: write('log'), warn: write('warn'), error: write('error') };
  events.forEach(logLease(logger, 'orders'));
  return lines;
}

it('names the service, and says what happened at the level it deserves, a renewal at none', () => {
  expect(
    logged(
      { type: 'lease-acquired', workerId: 3 },
      { type: 'lease-renewed', workerId: 3, tookMs: 1.2 },
      { type: 'lease-suspect', workerId: 3, reason: 'a jump' },
      { type: 'clock-back', workerId: 3, lane: 1 },
      { type: 'lease-lost', workerId: 3, reason: 'taken' },
      { type: 'lease-regained', workerId: 4 },
      { type: 'warning', message: 'look here' },
      { type: 'database-regression', workerId: 4, error: new ClosedError() },
      { type: 'lease-released', workerId: 4 },
    ).map((line) => line.split(' ').slice(0, 2).join(' ')),
  ).toEqual(['log', 'warn', 'warn', 'error', 'log', 'warn', 'error', 'log'].map((level) => `${level} Raindrop:orders`));
});

it('writes once for each trouble, not once for each attempt', () => {
  const [closed, notReady] = [new ClosedError(), new NotReadyError('x')].map(
    (error) => ({ type: 'lease-trouble', error }) as const,
  );
  expect(logged(closed!, closed!, notReady!, notReady!, closed!)).toHaveLength(3);
  expect(logged(closed!, { type: 'lease-regained', workerId: 1 }, closed!)).toHaveLength(3);
});
