import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Child } from '../../support/processes/child.js';
import { answersAsShown, namesTakenPort } from './answers-as-shown.js';
import { send } from './send.js';

const ROOT = resolve(__dirname, '../../..');
const SHOP = join(ROOT, 'apps/demo');
const FILES = readdirSync(SHOP, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
const CODE = FILES.filter((path) => path.endsWith('.ts')).map((path) => readFileSync(path, 'utf8'));

interface Order {
  readonly id: string;
  readonly createdAt: string;
}

describe('The shop', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-shop-'));
  const running: Child[] = [];

  afterEach(() => Promise.all(running.splice(0).map((each) => each.end())));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs `npm run demo`, on a free port, and waits until it says where Swagger is. */
  async function start(name: string, PORT = '0'): Promise<{ url: string; child: Child }> {
    const environment = { PORT, DATABASE: join(folder, name) };
    const child = new Child(['npm', 'run', '--silent', 'demo'], { cwd: ROOT, environment, hasGroup: true });
    running.push(child);
    const [, url] = await child.says(/Swagger: (http:\S+)\/docs\b/);
    return { url: url!, child };
  }

  it('answers as its README shows', () =>
    answersAsShown({ folder, start: () => start('readme.sqlite') }, 'apps/demo/README.md'));

  it('names the variable of a port that is taken', () => namesTakenPort(({ PORT }) => start('taken.sqlite', PORT)));

  it('has its orders after a restart, and describes IDs as texts', async () => {
    const first = await start('restart.sqlite');
    const body = { customer: 'Ada', items: [{ sku: 'tea-250g', quantity: 2 }] };
    const saved = await send<Order>(`${first.url}/orders`, { body });
    expect(saved.status).toBe(201);
    await first.child.end();

    const second = await start('restart.sqlite');
    expect(await send<Order>(`${second.url}/orders/${saved.body.id}`)).toEqual({ ...saved, status: 200 });
    const { body: openApi } = await send<object>(`${second.url}/docs-json`);
    const id = { type: 'string', format: 'int64' };
    const [OrderDto, items] = [{ properties: { id } }, { type: 'array', minItems: 1, maxItems: 100 }];
    expect(openApi).toMatchObject({
      components: { schemas: { OrderDto, OrderItemDto: OrderDto, CreateOrderDto: { properties: { items } } } },
    });
  });

  it('has the lines that its README tells to write', () => {
    const readme = readFileSync(join(SHOP, 'README.md'), 'utf8');
    const lines = [...readme.matchAll(/^[\w. -]+ \+ (.*)$/gm)].map(([, line]) => line!);
    expect(lines).toHaveLength(4);
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(/^```text\n[\s\S]*?^```$/m.exec(readme)![0]);
    // The shop gives the module options.
    const [module, ...others] = lines;
    expect(module).toBe('RaindropModule.forRoot(),');
    for (const line of ['RaindropModule.forRootAsync(', ...others]) {
      expect([line, CODE.some((source) => source.includes(line))]).toEqual([line, true]);
    }
  });

  it('is read in ten minutes: 20 files and 410 lines at most', () => {
    expect(FILES.length).toBeLessThanOrEqual(20);
    expect(CODE.join('').match(/\n/g)!.length).toBeLessThanOrEqual(410);
  });
});
