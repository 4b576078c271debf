import { createLayout, Layout, type PrefetchOptions } from '@raindrop/core';
import { PrefetchedIds, prefetchOptions, resolveOptions } from '@raindrop/core/internal';
import { settle, VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { type RemoteAnswer, RemoteBatchSource, type RemoteTransport } from './remote-batch-source.js';
import { RemoteIdsRefusedError } from './remote-errors.js';

const NOW = Date.parse('2026-01-01');
const at = (startTimeStamp: string): Layout =>
  createLayout({ startTimeStamp, timeStampLength: 33, workIdLength: 10 }, NOW);
const LAYOUT = at('2024-01-01');
const OTHER = at('2025-01-01');
const SMALL = new Layout({
  unitMs: 1_000,
  epochMs: NOW,
  fields: [
    { name: 'time', role: 'time', bits: 30 },
    { name: 'worker', role: 'worker', bits: 5 },
    { name: 'sequence', role: 'sequence', bits: 18 },
  ],
});
const FIXED = createLayout(
  { startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
  NOW,
);

/** A service that numbers its IDs, and the substitutes that tests use. */
class Service implements RemoteTransport {
  readonly name = 'the ID service at a test';
  readonly asked: number[] = [];
  signal: AbortSignal | undefined;
  isClosed = false;
  layout: unknown = LAYOUT.fingerprint;
  answer: ((ids: string[]) => unknown) | undefined;
  trouble: Error | undefined;
  isSilent = false;
  /** What the next answers are, one after the other. */
  readonly troubles: Error[] = [];
  delayMs = 0;
  mostAtOnce = 0;
  private atOnce = 0;
  private next = 2n ** 40n;

  constructor(private readonly time: VirtualTime) {}

  async take(count: number, _code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    try {
      return await this.answerTo(count, signal);
    } finally {
      this.atOnce--;
    }
  }

  private async answerTo(count: number, signal: AbortSignal): Promise<RemoteAnswer> {
    this.asked.push(this.time.monotonicMs);
    this.signal = signal;
    if (this.delayMs > 0) {
      await new Promise<void>((resolve, reject) => {
        this.time.setTimer(resolve, this.delayMs);
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    }
    const trouble = this.troubles.shift() ?? this.trouble;
    if (trouble !== undefined) throw trouble;
    if (this.isSilent) {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    }
    const ids = Array.from({ length: count }, () => String(this.next++));
    return { ids: this.answer === undefined ? ids : this.answer(ids), layout: this.layout };
  }

  close(): void {
    this.isClosed = true;
  }
}

class Bench {
  readonly time = new VirtualTime('2026-01-01');
  readonly service = new Service(this.time);
  readonly source: RemoteBatchSource;
  readonly ids: PrefetchedIds;

  constructor(layout?: Layout, prefetch: PrefetchOptions = {}) {
    this.source = new RemoteBatchSource(this.service, resolveOptions(prefetchOptions, prefetch), this.time, layout);
    this.ids = new PrefetchedIds(this.source, this.time, prefetch);
  }
}

describe('A source of remote IDs', () => {
  it('takes the layout of the service, and says whose the last ID was', async () => {
    const { ids, source } = new Bench();
    expect(source.layout).toBeUndefined();
    expect(source.workerId).toBeUndefined();
    await ids.start();
    expect(source.layout!.fingerprint).toBe(LAYOUT.fingerprint);
    expect(source.layout!.unpack(ids.nextId())).toEqual(LAYOUT.unpack(2n ** 40n));
    expect(source.workerId).toBe(LAYOUT.unpack(2n ** 40n + 63n).workerId);
    expect(source.isAnswering).toBe(true);
  });

  it('refuses a service of another layout at once, and one that changes it', async () => {
    const wrong = new Bench(OTHER);
    await expect(wrong.ids.start()).rejects.toMatchObject({
      errorCode: 'REMOTE_LAYOUT',
      retryable: false,
      here: OTHER.fingerprint,
      there: LAYOUT.fingerprint,
    });
    const { ids, service, source, time } = new Bench();
    await ids.start();
    service.layout = OTHER.fingerprint;
    expect(ids.nextIds(64)).toHaveLength(64);
    await time.advance(10);
    expect(() => ids.nextId()).toThrow('restart this process');
    expect(source.isAnswering).toBe(false);
    expect(ids.counters.issued).toBe(64);
  });

  it.each<[string, Partial<Pick<Service, 'layout' | 'answer'>>, string]>([
    ['no layout', { layout: null }, 'does not name its layout'],
    ['a number for a layout', { layout: 7 }, 'does not name its layout'],
    ['a layout that is none', { layout: '1000@5:t33' }, 'names an invalid layout'],
    ['no list', { answer: () => ({}) }, 'has no list of IDs'],
    ['nothing', { answer: () => undefined }, 'has no list of IDs'],
    ['an empty list', { answer: () => [] }, 'has 0 IDs instead of 1 to 64'],
    ['more than was asked for', { answer: (ids) => [...ids, '5'] }, 'has 65 IDs instead of 1 to 64'],
    ['numbers', { answer: () => [5] }, 'contains 5, not a decimal ID'],
    ['a sign', { answer: () => ['-5'] }, 'contains "-5", not a decimal ID'],
    ['a million digits', { answer: () => ['1'.repeat(1_000_000)] }, 'not a decimal ID'],
    ['another base', { answer: () => ['0x5'] }, 'not a decimal ID'],
  ])('uses nothing of an answer with %s, and asks again', async (_, fault, message) => {
    const { ids, service, time } = new Bench();
    Object.assign(service, fault);
    const first = ids.nextIdAsync();
    await settle();
    expect(ids.status()[0]!.lastError).toMatchObject({ errorCode: 'INVALID_REMOTE_ANSWER', retryable: true });
    expect(ids.status()[0]!.lastError!.message).toContain(message);
    Object.assign(service, { layout: LAYOUT.fingerprint, answer: undefined });
    await time.advance(100);
    expect(await first).toBe(2n ** 40n + 64n);
  });

  it.each([
    ['above 2^63 - 1', ['9223372036854775808', '5'], undefined, 'INVALID_REMOTE_ANSWER'],
    ['of which one stands there twice', ['4', '6', '8', '4'], undefined, 'INVALID_ID_BATCH'],
    ['that are larger than those of the layout', ['4', '9007199254740992', '6'], SMALL, 'INVALID_REMOTE_ANSWER'],
    ['with other fixed bits than the layout', ['4', '5', '6'], FIXED, 'INVALID_REMOTE_ANSWER'],
  ])('refuses IDs %s', async (_, given, layout, errorCode) => {
    const { ids, service } = new Bench();
    if (layout !== undefined) service.layout = layout.fingerprint;
    service.answer = () => given;
    ids.nextIdAsync().catch(() => undefined);
    await settle();
    expect(ids.status()[0]!.lastError).toMatchObject({ errorCode });
    expect(ids.counters.received).toBe(0);
    ids.close();
  });

  it.each<[string, (first: string[], second: string[]) => string[]]>([
    ['the answer before once more', (_first, second) => second],
    ['the one before that', (first) => first],
    ['one ID of it, in the midst of others', (first) => ['5000', first[40]!, '5001']],
    ['one ID of it, where IDs go back', (_first, second) => [String(2n ** 41n), second[0]!, '4000']],
  ])('uses nothing of an answer with IDs that it has had: %s', async (_, repeat) => {
    const { ids, service, time } = new Bench(undefined, { minStep: 64, maxStep: 64 });
    const answers: string[][] = [];
    service.answer = (fresh) => answers[answers.push(fresh) - 1];
    await ids.start();
    const taken = ids.nextIds(64);
    await time.advance(1);
    expect(answers).toHaveLength(2);
    service.answer = () => repeat(answers[0]!, answers[1]!);
    taken.push(...ids.nextIds(64));
    await time.advance(1_000);
    expect(ids.status()[0]!.lastError).toMatchObject({ errorCode: 'INVALID_ID_BATCH', retryable: true });
    expect(() => ids.nextId()).toThrow('with an ID of an earlier answer');
    service.answer = undefined;
    await time.advance(10_000);
    taken.push(...ids.nextIds(64));
    expect(new Set(taken).size).toBe(3 * 64);
    ids.close();
  });

  it('takes for one code what it has had for another: each has a sequence of its own', async () => {
    const { ids, service } = new Bench(undefined, { minStep: 3, maxStep: 3 });
    service.answer = () => ['4', '6', '8'];
    expect(await ids.nextIdsAsync(3, 'a')).toEqual([4n, 6n, 8n]);
    expect(await ids.nextIdsAsync(3, 'b')).toEqual([4n, 6n, 8n]);
    ids.close();
  });

  it('does not keep the layout of an answer of which nothing is used', async () => {
    const { ids, service, source, time } = new Bench();
    service.layout = OTHER.fingerprint;
    service.answer = () => ['<html>'];
    const first = ids.nextIdAsync();
    await settle();
    expect(source.layout).toBeUndefined();
    Object.assign(service, { layout: LAYOUT.fingerprint, answer: undefined });
    await time.advance(100);
    expect(await first).toBe(2n ** 40n + 64n);
    expect(source.layout!.fingerprint).toBe(LAYOUT.fingerprint);
  });

  it('takes a batch that goes back, as after a clock did: nothing stands there twice', async () => {
    const { ids, service } = new Bench();
    service.answer = () => ['8', '6', '4'];
    expect(await ids.nextIdsAsync(3)).toEqual([8n, 6n, 4n]);
    ids.close();
  });

  it('does not repeat what a service says in place of a layout', async () => {
    const { ids, service, time } = new Bench();
    await ids.start();
    service.layout = `${'x'.repeat(100_000)}\n`;
    ids.nextIds(64);
    await time.advance(10);
    expect(ids.status()[0]!.lastError!.message).toMatch(/^An answer from .{20,200}$/);
    ids.close();
  });

  it('reads a large answer in turns with others', async () => {
    const { ids, source, time } = new Bench();
    let turns = 0;
    const { setTimer } = time;
    time.setTimer = (callback, delayMs) => {
      if (delayMs === 0) turns++;
      return setTimer.call(time, callback, delayMs);
    };
    const taking = source.take(10_000);
    await time.advance(10);
    expect(await taking).toHaveLength(10_000);
    expect(turns).toBe(4);
    ids.close();
  });

  it('gives an attempt up after opTimeoutMs, so that nothing of it stays', async () => {
    const { ids, service, time } = new Bench(undefined, { opTimeoutMs: 500, retryBaseMs: 10 });
    service.isSilent = true;
    const first = ids.nextIdAsync();
    await time.advance(499);
    const { signal } = service;
    expect(signal!.aborted).toBe(false);
    await time.advance(1);
    expect(signal!.aborted).toBe(true);
    service.isSilent = false;
    await time.advance(20);
    expect(await first).toBe(2n ** 40n);
    expect(ids.status()[0]!.lastError).toBeUndefined();
  });

  it('ends the attempts under way when it closes', async () => {
    const { ids, source, service, time } = new Bench();
    service.isSilent = true;
    const waiting = ids.nextIdAsync();
    ids.close();
    source.close();
    expect(service.signal!.aborted).toBe(true);
    expect(service.isClosed).toBe(true);
    await expect(waiting).rejects.toMatchObject({ errorCode: 'CLOSED' });
    await settle();
    expect(time.pending.size).toBe(0);
  });
});

describe('A service that asks for a pause', () => {
  const refusal = (retryAfterMs?: number): RemoteIdsRefusedError =>
    new RemoteIdsRefusedError('a test', {
      status: 429,
      errorCode: 'RATE_LIMITED',
      detail: 'too many',
      retryable: true,
      retryAfterMs,
    });

  /** When a client that waits asks, ms after its first request, and when it has an ID. */
  async function courseOf(error: RemoteIdsRefusedError): Promise<{ asked: number[]; servedAt: number }> {
    const { ids, service, time } = new Bench();
    service.trouble = error;
    let servedAt = -1;
    void ids.nextIdAsync(undefined, { timeoutMs: 60_000 }).then(() => (servedAt = time.monotonicMs));
    await time.advance(6_500);
    service.trouble = undefined;
    await time.advance(10_000);
    ids.close();
    return { asked: service.asked.filter((ms) => ms <= servedAt), servedAt };
  }

  it('is not asked before that, whatever the code, and then with jitter', async () => {
    const { asked, servedAt } = await courseOf(refusal(7_000));
    expect(asked).toEqual([0, servedAt]);
    expect(servedAt).toBeGreaterThan(7_000);
    expect(servedAt).toBeLessThan(12_000);
  });

  it('for one code only, because of what was asked, keeps no other waiting', async () => {
    const { ids, service } = new Bench();
    service.trouble = new RemoteIdsRefusedError('a test', {
      status: 400,
      errorCode: 'INVALID_CODE',
      detail: 'no',
      retryable: false,
      retryAfterMs: 7_000,
    });
    await expect(ids.nextIdAsync('a')).rejects.toMatchObject({ errorCode: 'INVALID_CODE' });
    service.trouble = undefined;
    expect(await ids.nextIdAsync('b')).toBe(2n ** 40n);
    ids.close();
  });

  it('is asked again and again when it names no time', async () => {
    const { asked } = await courseOf(refusal());
    expect(asked.length).toBeGreaterThan(5);
  });
});

describe('A service that many codes are fetched from', () => {
  const codes = Array.from({ length: 500 }, (_, index) => `code ${index}`);

  it('is asked for 32 of them at once, and for the others in turn', async () => {
    const { ids, service, time } = new Bench();
    service.delayMs = 10;
    const starting = ids.start(codes);
    await time.advance(200);
    await starting;
    expect(service.mostAtOnce).toBe(32);
    expect(service.asked).toHaveLength(501);
    ids.close();
  });

  it('is asked for none whose turn comes too late, and then again for it', async () => {
    const { ids, service, time } = new Bench(undefined, { opTimeoutMs: 20, asyncTimeoutMs: 10_000 });
    service.delayMs = 15;
    const waiting = codes.map((code) => ids.nextIdAsync(code));
    await time.advance(10_000);
    expect(await Promise.all(waiting)).toHaveLength(500);
    expect(service.mostAtOnce).toBe(32);
    expect(ids.counters.failures).toBeGreaterThan(100);
    // Nothing that was given up in the queue went out after all.
    expect(ids.counters.late).toBe(0);
    ids.close();
  });

  it('is asked once in a while when it is down, however many codes want IDs, and for all of them when it is back', async () => {
    const { ids, service, time } = new Bench();
    await ids.start(codes);
    service.asked.length = 0;
    service.trouble = new Error('connect ECONNREFUSED');
    await time.advance(60_000);
    // A single code asks 18 to 30 times in a minute.
    expect(service.asked.length).toBeLessThan(60);
    expect(ids.refusal(codes[7])).toMatchObject({ errorCode: 'IDS_NOT_READY', message: /ECONNREFUSED/ });
    service.trouble = undefined;
    await time.advance(10_000);
    expect(codes.filter((code) => ids.refusal(code) !== undefined)).toEqual([]);
    ids.close();
  });

  it('keeps to the longest pause it has asked for', async () => {
    const { ids, service, time } = new Bench();
    const pause = (retryAfterMs: number): Error =>
      new RemoteIdsRefusedError('a test', {
        status: 503,
        errorCode: 'LEASE_LOST',
        detail: 'no',
        retryable: true,
        retryAfterMs,
      });
    service.delayMs = 10;
    service.troubles.push(pause(30_000), pause(1_000));
    const waiting = ['a', 'b'].map((code) => ids.nextIdAsync(code, { timeoutMs: 60_000 }));
    await time.advance(29_000);
    expect(service.asked).toEqual([0, 0]);
    await time.advance(15_000);
    expect(new Set(await Promise.all(waiting)).size).toBe(2);
    ids.close();
  });

  it('that answers with something else is left alone as well, and asked at once for a code it had refused', async () => {
    const { ids, service, time } = new Bench();
    service.answer = () => '<html>';
    const waiting = codes.map((code) => ids.nextIdAsync(code, { timeoutMs: 60_000 }));
    await time.advance(20_000);
    expect(service.asked.length).toBeLessThan(100);
    service.answer = undefined;
    await time.advance(10_000);
    expect(await Promise.all(waiting)).toHaveLength(500);
    ids.close();
  });
});
