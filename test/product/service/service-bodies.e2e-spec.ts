import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';

const ROUTES = [
  '/v1/ids',
  '/v1/ids/stream',
  '/v1/layouts/plan',
  '/v1/numbers/order',
  '/v1/sharded-ids',
  '/v1/business-numbers',
];

/** What reads its body, but for the planner, whose options core reads. */
const VALIDATED = ['/v1/sharded-ids', '/v1/business-numbers'];

const keys = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`;

describe('Bodies', () => {
  let service: OpenService;

  beforeAll(async () => {
    service = await openService();
  });

  afterAll(() => service.close());

  const post = async (path: string, body: string): Promise<{ status: number; problem: { detail: string } }> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(service.url + path, { method: 'POST', headers, body });
    const text = await answer.text();
    return { status: answer.status, problem: (path.endsWith('/stream') ? {} : JSON.parse(text)) as { detail: string } };
  };

  it.each(ROUTES)('of %s are as long as that needs, and no longer', async (path) => {
    const most = 4_096;
    const text = (length: number): string => `"${'x'.repeat(length - 2)}"`;
    expect((await post(path, text(most))).status).not.toBe(413);
    expect((await post(path, text(most + 1))).status).toBe(413);
  });

  it.each([
    ['{"a":'.repeat(600) + '0' + '}'.repeat(600), 'no deeper than 32'],
    ['['.repeat(2_000) + ']'.repeat(2_000), 'no deeper than 32'],
    [keys(65), 'objects of at most 64 members'],
    [`{"items":[${Array(129).fill('0').join(',')}]}`, 'lists of at most 128 elements'],
    [
      `{"items":[${Array(5)
        .fill(`[${Array(128).fill('0').join(',')}]`)
        .join(',')}]}`,
      '512 values in total',
    ],
  ])('of a shape that none of ours has are refused before anything reads them: %#', async (body, reason) => {
    for (const path of [...VALIDATED, '/v1/layouts/plan']) {
      const { status, problem } = await post(path, body);
      expect(problem).toEqual(problemLike(400, 'INVALID_INPUT', reason));
      expect(status).toBe(400);
    }
  });

  it('that no handler reads are no failure either', async () => {
    for (const path of ['/v1/ids', '/v1/numbers/order']) {
      expect((await post(path, '['.repeat(2_000) + ']'.repeat(2_000))).status).toBe(201);
    }
  });

  it.each(VALIDATED)('of %s with many unknown members have ten of them named', async (path) => {
    const { problem } = await post(path, keys(60));
    expect(problem.detail.match(/is unknown; legal/g)).toHaveLength(10);
    expect(problem.detail).toMatch(/; and \d+ more$/);
  });

  it('of the planner with many unknown members have ten of them named', async () => {
    const { problem } = await post('/v1/layouts/plan', keys(60));
    expect(problem.detail.match(/is not an option/g)).toHaveLength(10);
    expect(problem.detail).toContain('has 50 more unknown names');
  });
});
