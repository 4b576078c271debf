import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDemo, type OpenDemo } from './open-demo.js';

const LINE =
  /^(?<name>[a-z_\d]+)(?:\{(?<labels>(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (?<value>[-+.\deE]+|NaN|Nan|[-+]Inf)$/;

/** The instruments of docs/metrics.md, as Prometheus names them: kind and unit of each row of its table. */
const DOCUMENTED = [
  ...readFileSync(join(__dirname, '../../docs/metrics.md'), 'utf8').matchAll(
    /^\| `(raindrop\.[\w.]+)` \| ([\w-]+) \| (\S*) \|/gm,
  ),
].map(([, name, kind, unit]) => {
  const base = name!.replaceAll('.', '_') + ({ s: '_seconds', d: '_days' }[unit!] ?? '');
  return {
    name: kind === 'counter' ? `${base}_total` : base,
    type: { counter: 'counter', histogram: 'histogram' }[kind!] ?? 'gauge',
  };
});

describe('GET /metrics', () => {
  let demo: OpenDemo;

  beforeAll(async () => {
    demo = await openDemo({ RAINDROP_LEASE_MS: '4000' });
  });

  afterAll(() => demo.close());

  const scrape = async (): Promise<{ text: string; values: Map<string, number> }> => {
    const answer = await fetch(`${demo.url}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const text = await answer.text();
    const values = new Map<string, number>();
    for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
      const { name, labels = '', value } = LINE.exec(line)?.groups ?? {};
      if (name === undefined) throw new Error(`not of the text format: ${line}`);
      expect(values.has(`${name}{${labels}}`)).toBe(false);
      values.set(`${name}{${labels}}`, Number(value));
    }
    return { text, values };
  };

  it('shows every instrument of docs/metrics.md once, under its name for Prometheus', async () => {
    expect(DOCUMENTED.length).toBeGreaterThan(14);
    // One is recorded with the first renewal.
    let types = new Map<string, string>();
    for (let tries = 0; tries < 50 && !types.has('raindrop_lease_renewal_duration_seconds'); tries++) {
      const { text } = await scrape();
      types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
      await new Promise((settle) => setTimeout(settle, 100));
    }
    const ours = [...types].filter(([name]) => name.startsWith('raindrop_'));
    expect(new Map(ours)).toEqual(new Map(DOCUMENTED.map(({ name, type }) => [name, type])));
    expect(types.has('process_cpu_seconds_total')).toBe(true);
    expect(types.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
  });

  it('counts what was issued, by code, of both services, however often and by however many it is read', async () => {
    await fetch(`${demo.url}/v1/ids?count=7&code=metered`, { method: 'POST' });
    await fetch(`${demo.url}/v1/numbers/invoice?count=3`, { method: 'POST' });
    const all = await Promise.all([scrape(), scrape(), scrape()]);
    for (const { values } of all) {
      const issued = (service: string, code: string): number | undefined =>
        values.get(`raindrop_ids_issued_total{raindrop_service="${service}",raindrop_code="${code}"}`);
      expect(issued('default', 'metered')).toBe(7);
      expect(issued('numbers', 'invoice')).toBe(3);
      expect(values.get('raindrop_lease_state{raindrop_service="default",raindrop_lease_state="held"}')).toBe(1);
    }
  });

  it('writes codes that have to be escaped', async () => {
    await fetch(`${demo.url}/v1/ids?code=${encodeURIComponent('a"b\\c\nd')}`, { method: 'POST' });
    expect((await scrape()).text).toContain('raindrop_code="a\\"b\\\\c\\nd"} 1');
  });
});
