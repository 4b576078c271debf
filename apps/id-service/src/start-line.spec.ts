import { startLine } from './start-line.js';

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
