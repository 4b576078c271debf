import { presets } from '@raindrop/core';
import { IdService } from '@raindrop/nestjs';
import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';

const OPTIONS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };

describe('The service', () => {
  let service: OpenService;
  let ids: IdService;

  beforeAll(async () => {
    service = await openService();
    ids = service.app.get(IdService);
  });

  afterAll(() => service.close());

  const get = async (path: string): Promise<{ status: number; json: unknown }> => {
    const answer = await fetch(`${service.url}${path}`);
    return { status: answer.status, json: await answer.json() };
  };

  const plan = async (body: unknown): Promise<{ status: number; json: Record<string, unknown> }> => {
    const headers = { 'content-type': 'application/json' };
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(`${service.url}/v1/layouts/plan`, { method: 'POST', headers, body: payload });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  };

  describe('plans layouts', () => {
    it('with lifetime, capacity and fields', async () => {
      const { status, json } = await plan(OPTIONS);
      expect(status).toBe(200);
      expect(json).toMatchObject({ fingerprint: ids.layout.fingerprint, bits: 63, idsPerTick: 262_144 });
      expect(json['expiresAt']).toBe(ids.layout.expiresAt!.toISOString());
      expect(json['fields']).toHaveLength(ids.layout.fields.length);
    });

    it('with warnings for what is expected of them', async () => {
      const { json } = await plan({ ...OPTIONS, expectedNodes: 2_000, expectedIdsPerSecond: 1_000_000 });
      expect((json['warnings'] as object[]).length).toBeGreaterThan(0);
    });

    it('and names every option that is wrong', async () => {
      const { status, json } = await plan({ ...OPTIONS, workIdLength: 2, timeStampLength: '33', colour: 'red' });
      expect(status).toBe(400);
      const problems = (json['problems'] as { option: string; given: string; message: string }[]).map((each) => {
        expect(Object.keys(each)).toEqual(['option', 'given', 'message']);
        return each.option;
      });
      expect(problems.sort()).toEqual(['colour', 'timeStampLength', 'workIdLength']);
      expect(json).toEqual(
        problemLike(400, 'CONFIGURATION', 'colour is not an option', { problems: json['problems'] }),
      );
    });

    it.each<[string, string]>([
      ['startTimeStamp', JSON.stringify('x'.repeat(3_900))],
      ['startTimeStamp', '"2999-01-01"'],
      ['startTimeStamp', '{"toString":1}'],
      ['timeStampLength', '1e309'],
      ['timeStampLength', '-0.5'],
      ['workIdLength', '[10]'],
      ['endBitsValue', '2'],
      ['serviceMinWorkId', '1024'],
      ['serviceMaxWorkId', '0'],
      ['expectedNodes', 'null'],
      ['timeUnit', '"fortnight"'],
      ['constructor', '{}'],
    ])('and says in a few words what is wrong with %s', async (option, value) => {
      const others = Object.entries(OPTIONS).filter(([name]) => name !== option);
      const members = [...others.map(([name, each]) => `"${name}":${JSON.stringify(each)}`), `"${option}":${value}`];
      const { status, json } = await plan(`{${members.join()}}`);
      expect(status).toBe(400);
      const named = (json['problems'] as { option: string }[]).map((each) => each.option);
      // The range is reported at its beginning.
      expect(named).toEqual([option === 'serviceMaxWorkId' ? 'serviceMinWorkId' : option]);
      expect(JSON.stringify(json).length).toBeLessThan(1_000);
    });

    it.each([[[]], ['{"__proto__":{}}'], ['null'], ['"text"'], ['']])('and refuses %j', async (body) => {
      const { status, json } = await plan(body);
      expect(status).toBe(400);
      expect(json['errorCode']).toMatch(/^(CONFIGURATION|BAD_REQUEST)$/);
    });
  });

  it('knows the layouts of other systems', async () => {
    const { status, json } = await get('/v1/presets');
    expect(status).toBe(200);
    const named = json as { name: string; plan: { fingerprint: string } }[];
    expect(named.map(({ name }) => name)).toEqual(Object.keys(presets));
    expect(named[0]!.plan.fingerprint).toBe(presets.twitter().fingerprint);
  });

  it.each([
    ['twitter', '1541815603606036480', { time: '2022-06-28T16:07:40.105Z', workerId: 378, sequence: 0 }],
    ['discord', '175928847299117063', { time: '2016-04-30T11:18:25.796Z', workerId: 32, sequence: 7 }],
    ['keyWorker', '18446744073709551615', { id: '18446744073709551615', sequence: 4_095 }],
  ])('takes an ID of %s apart', async (preset, id, parts) => {
    const { status, json } = await get(`/v1/ids/${id}?preset=${preset}`);
    expect(status).toBe(200);
    expect(json).toMatchObject(parts);
    expect(json).not.toHaveProperty('holder');
  });

  it.each([
    ['18446744073709551615?preset=twitter', 'INVALID_ID'],
    ['18446744073709551616?preset=keyWorker', 'INVALID_ID'],
    ['1?preset=__proto__', 'INVALID_INPUT'],
    ['1?preset=', 'INVALID_INPUT'],
  ])('refuses %s', async (path, errorCode) => {
    expect(await get(`/v1/ids/${path}`)).toMatchObject({ status: 400, json: { status: 400, errorCode } });
  });

  it('advises layouts for needs, and names every need that is none', async () => {
    const advise = (body: unknown): Promise<Response> =>
      fetch(`${service.url}/v1/layouts/advice`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const advice = (await (await advise({ processes: 50, idsPerSecond: 2_000, years: 30 })).json()) as unknown[];
    expect(advice).toHaveLength(3);
    expect(advice[0]).toMatchObject({ name: 'default', misses: [], plan: { timeUnit: 'second' } });
    const refused = await advise({ processes: 0, years: 'many', numbers: true });
    expect(refused.status).toBe(400);
    const { errorCode, problems } = (await refused.json()) as { errorCode: string; problems: { option: string }[] };
    expect([errorCode, problems.map(({ option }) => option)]).toEqual([
      'CONFIGURATION',
      ['processes', 'idsPerSecond', 'years'],
    ]);
  });

  it('tells everybody how it is, and nothing of its worker or its host', async () => {
    await fetch(`${service.url}/v1/ids?count=5&code=status`, { method: 'POST' });
    const { status, json } = await get('/v1/status');
    expect(status).toBe(200);
    expect(json).toEqual({
      state: 'held',
      assigner: 'database',
      guarantee: 'reserved',
      layout: expect.objectContaining({
        fingerprint: ids.layout.fingerprint,
        workers: { min: 5, max: 9, count: 5 },
      }) as object,
      issued: 5,
      codes: expect.any(Number) as number,
      uptimeSeconds: expect.any(Number) as number,
      expiresAt: ids.layout.expiresAt!.toISOString(),
      daysLeft: expect.any(Number) as number,
      lease: expect.any(Object) as object,
      events: [{ at: expect.stringMatching(/Z$/) as string, type: 'lease-acquired' }],
      showsWorkers: true,
    });
    const { lease } = json as { lease: { leftMs: number; renewals: number } };
    expect(lease).toEqual({
      leftMs: expect.any(Number) as number,
      clockOffsetMs: expect.any(Number) as number,
      // On a busy machine the lease has been renewed by now.
      renewalMs: lease.renewals === 0 ? null : (expect.any(Number) as number),
      renewals: expect.any(Number) as number,
      failures: 0,
      lastErrorCode: null,
    });
    expect(lease.leftMs).toBeGreaterThan(0);
  });

  it('is alive and ready', async () => {
    for (const path of ['/health', '/health/live', '/health/ready', '/metrics']) {
      expect((await fetch(service.url + path)).headers.get('cache-control')).toContain('no-store');
    }
    expect(await get('/health/live')).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await get('/health/ready')).toMatchObject({
      status: 200,
      json: { status: 'ok', details: { raindrop: { status: 'up' }, shutdown: { status: 'up' } } },
    });
  });

  it('shows its workers without API_KEYS, for it listens on a loopback address, but not through a proxy', async () => {
    const answer = await fetch(`${service.url}/v1/workers`);
    expect(answer.status).toBe(200);
    const proxied = await fetch(`${service.url}/v1/workers`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(proxied.status).toBe(404);
    expect(await proxied.json()).toEqual(problemLike(404, 'WORKERS_NOT_SHOWN', 'no API_KEYS'));
    const status = await fetch(`${service.url}/v1/status`, { headers: { forwarded: 'for=192.0.2.1' } });
    expect(await status.json()).toMatchObject({ showsWorkers: false });
  });

  it('answers problems where there is no route, and where the address is none', async () => {
    for (const [path, status] of [
      ['/nothing', 404],
      ['/v1/ids/%zz', 400],
    ] as const) {
      const answer = await fetch(`${service.url}${path}`);
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(answer.status).toBe(status);
    }
  });

  describe('serves its page', () => {
    it('at /, under a policy without inline scripts and styles', async () => {
      const answer = await fetch(service.url);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toContain('text/html');
      expect(answer.headers.get('cache-control')).toBe('no-cache');
      const policy = answer.headers.get('content-security-policy')!;
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      const html = await answer.text();
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle="|\son\w+="/);
      const files = [...html.matchAll(/(?:href|src)="([\w./-]+\.(?:js|css|svg))"/g)].map((match) => match[1]!);
      expect(files.length).toBeGreaterThan(1);
      for (const file of files) expect((await fetch(new URL(file, service.url))).status).toBe(200);
    });

    it('once, and then says that nothing has changed', async () => {
      const etag = (await fetch(service.url)).headers.get('etag')!;
      const again = await fetch(service.url, { headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' } });
      expect(again.status).toBe(304);
    });

    it.each(['/..%2Ftsconfig.app.json', '/%2e%2e/src/main.ts', '/.git/config'])(
      'and nothing outside: %s',
      async (path) => {
        expect((await fetch(`${service.url}${path}`)).status).toBe(404);
      },
    );
  });
});
