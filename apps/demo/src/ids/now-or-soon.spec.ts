import { InvalidCodeError, NotReadyError } from '@raindrop/core';
import { nowOrSoon } from './now-or-soon.js';

describe('nowOrSoon', () => {
  const refuse = (error: Error) => (): string => {
    throw error;
  };
  const soon = (): Promise<string> => Promise.resolve('soon');

  it('does not wait for what is there', () => {
    expect(nowOrSoon(() => 'now', soon)).toBe('now');
  });

  it('waits where waiting helps', async () => {
    await expect(nowOrSoon(refuse(new NotReadyError('starting')), soon)).resolves.toBe('soon');
  });

  it.each([new InvalidCodeError(''), new TypeError('a mistake')])('passes on %s', (error) => {
    expect(() => nowOrSoon(refuse(error), soon)).toThrow(error);
  });
});
