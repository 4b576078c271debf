import { LogRepeats, openDoorWarning, startLine } from './service-log.js';

describe('startLine', () => {
  const layout = { fingerprint: 'some-layout', expiresAt: new Date('2298-03-16T12:56:32Z') };
  const ids = { workerId: 17, layout };
  const workers = { min: 1, max: 64 };

  it('says worker, layout, expiry and where to click', () => {
    expect(startLine(ids, { workers }, { address: '127.0.0.1', port: 3_000 })).toBe(
      'Raindrop: worker 17 of 1..64, layout some-layout; IDs until 2298-03-16; click http://127.0.0.1:3000/',
    );
  });

  it.each([
    ['0.0.0.0', 'http://127.0.0.1:80/'],
    ['::', 'http://127.0.0.1:80/'],
    ['::1', 'http://[::1]:80/'],
    ['192.168.1.2', 'http://192.168.1.2:80/'],
  ])('makes an address of %s that can be clicked', (address, url) => {
    expect(startLine(ids, { workers }, { address, port: 80 })).toContain(`click ${url}`);
  });

  it('copes with a layout that outlives the calendar', () => {
    expect(
      startLine({ ...ids, layout: { ...layout, expiresAt: null } }, { workers }, { address: '::1', port: 80 }),
    ).toContain('IDs until beyond the calendar;');
  });
});

it.each<[string, 'workers' | 'all', boolean]>([
  ['0.0.0.0', 'workers', true],
  ['::', 'workers', true],
  ['0:0:0:0:0:0:0:0', 'workers', true],
  ['::', 'all', false],
  ['0.0.0.0', 'all', false],
  ['127.0.0.1', 'workers', false],
  ['::1', 'workers', false],
  ['192.0.2.1', 'workers', false],
])('HOST=%s with API_KEYS_FOR=%s is warned of: %s', (host, apiKeysFor, isWarned) => {
  const warning = openDoorWarning({ host, apiKeysFor });
  expect(warning !== undefined).toBe(isWarned);
  if (isWarned) expect(warning).toMatch(/^HOST=.*API_KEYS_FOR=all/);
});

describe('LogRepeats', () => {
  it('lets one entry of a kind through in ten seconds, with how many went unsaid', () => {
    let now = 0;
    const repeats = new LogRepeats(() => now);
    const admitted = (kind: string, atMs: number): number | undefined => {
      now = atMs;
      return repeats.admit(kind);
    };
    expect(admitted('a', 0)).toBe(0);
    expect(admitted('a', 1)).toBeUndefined();
    expect(admitted('b', 2)).toBe(0);
    expect(admitted('a', 9_999)).toBeUndefined();
    expect(admitted('a', 10_000)).toBe(2);
    expect(admitted('a', 19_999)).toBeUndefined();
    expect(admitted('a', 40_000)).toBe(1);
    expect(admitted('b', 40_000)).toBe(0);
  });
});
