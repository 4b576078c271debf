import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IdService } from '@raindrop/nestjs';
import { leaseStatus } from '../../support/module/lease-status.js';
import { until } from '../../support/until.js';
import { openService, type OpenService } from './open-service.js';

const LINE =
  /^(?<name>[a-z_\d]+)(?:\{(?<labels>(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (?<value>[-+.\deE]+|NaN|Nan|[-+]Inf)$/;

/** The instruments of docs/metrics.md, as Prometheus names them: kind and unit of each row of its table. */
const DOCUMENTED = [
  ...readFileSync(join(__dirname, '../../../docs/metrics.md'), 'utf8').matchAll(
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
  let service: OpenService;

  beforeAll(async () => {
    service = await openService({ RAINDROP_LEASE_MS: '12000' });
  });

  afterAll(() => service.close());

  const scrape = async (): Promise<{ text: string; values: Map<string, number> }> => {
    const answer = await fetch(`${service.url}/metrics`);
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
    await until('the first renewal', () => leaseStatus(service.app.get(IdService)).renewals > 0);
    const { text } = await scrape();
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
    const ours = [...types].filter(([name]) => name.startsWith('raindrop_'));
    expect(new Map(ours)).toEqual(new Map(DOCUMENTED.map(({ name, type }) => [name, type])));
    expect(types.has('process_cpu_seconds_total')).toBe(true);
    expect(types.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
  });

  it('counts what was issued, by code, of both services, however often and by however many it is read', async () => {
    await fetch(`${service.url}/v1/ids?count=7&code=metered`, { method: 'POST' });
    await fetch(`${service.url}/v1/numbers/invoice?count=3`, { method: 'POST' });
    const all = await Promise.all([scrape(), scrape(), scrape()]);
    for (const { values } of all) {
      const issued = (service: string, code: string): number | undefined =>
        values.get(`raindrop_ids_issued_total{raindrop_service="${service}",raindrop_code="${code}"}`);
      expect(issued('default', 'metered')).toBe(7);
      expect(issued('numbers', 'invoice')).toBe(3);
      expect(values.get('raindrop_lease_state{raindrop_service="default",raindrop_lease_state="held"}')).toBe(1);
    }
  });

  it('times requests by route, method and status, and never by what was asked for', async () => {
    const ask = async (path: string, method = 'GET'): Promise<void> => {
      await (await fetch(service.url + path, { method })).text();
    };
    for (const id of ['1', '22', '333']) await ask(`/v1/ids/${id}`);
    await ask('/v1/ids?count=2', 'POST');
    await ask('/v1/ids?count=0', 'POST');
    for (const path of ['/nothing', '/nothing/else?x=1', '/v1/ids/%zz']) await ask(path);
    for (const path of ['/', '/style.css', '/page.js', '/docs', '/docs-json']) await ask(path);
    await ask('/v1/presets', 'PROPFIND');
    const { values, text } = await scrape();
    const count = (method: string, route: string, status: number): number | undefined =>
      values.get(
        `http_server_request_duration_seconds_count{http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"}`,
      );
    expect(count('GET', '/v1/ids/:id', 200)).toBe(3);
    expect(count('POST', '/v1/ids', 201)).toBeGreaterThan(0);
    expect(count('POST', '/v1/ids', 400)).toBe(1);
    expect(count('GET', '', 404)).toBe(2);
    expect(count('GET', '/*', 200)).toBe(5);
    expect(count('_OTHER', '', 405)).toBe(1);
    expect(text).not.toMatch(/nothing|style\.css|PROPFIND/);
    expect(text).toMatch(/^# HELP http_server_request_duration_seconds \S/m);
    expect(text).toMatch(/^# TYPE http_server_request_duration_seconds histogram$/m);
  });

  it('is text as Prometheus wants it: HELP and TYPE once, before the samples, and an end of line at the end', async () => {
    const { text } = await scrape();
    const seen = new Set<string>();
    let name = '';
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const [, kind, about] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*)/.exec(line) ?? [];
      if (kind === 'HELP') {
        expect(seen.has(about!)).toBe(false);
        seen.add((name = about!));
      } else if (kind === 'TYPE') expect(about).toBe(name);
      else expect(line.startsWith(name)).toBe(true);
    }
    expect(seen.size).toBeGreaterThan(40);
    expect(text.endsWith('\n')).toBe(true);
  });

  it('writes codes that have to be escaped', async () => {
    await fetch(`${service.url}/v1/ids?code=${encodeURIComponent('a"b\\c\nd')}`, { method: 'POST' });
    expect((await scrape()).text).toContain('raindrop_code="a\\"b\\\\c\\nd"} 1');
  });
});
