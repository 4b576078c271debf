import { readFileSync } from 'node:fs';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openChromium } from './chromium.js';
import { eventually, shows } from './eventually.js';
import { openPage, type OpenedPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';

const API_KEY = 'key-of-the-page-tests';
const RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
} satisfies RunOptions;
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds, in one line each. */
async function violationsOf(page: Page): Promise<string[]> {
  // Not as a script element, which the page's policy forbids.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(RULES)})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`));
}

describe('The page is for everybody', () => {
  let browser: Browser;
  let service: PageService;
  let opened: OpenedPage | undefined;

  beforeAll(async () => {
    browser = await openChromium();
    service = await startService({ apiKey: API_KEY });
  }, 60_000);

  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = async (options?: BrowserContextOptions): Promise<Page> => {
    opened = await openPage(browser, service.url, options);
    return opened.page;
  };

  const focused = (page: Page): Promise<string> =>
    page.evaluate<string>(`(({ id, textContent }) => id || textContent.trim())(document.activeElement)`);

  const fill = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Take a new ID' }).click();
    await page.getByRole('button', { name: 'Take', exact: true }).click();
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Show workers' }).click();
    await page.getByRole('slider', { name: 'End bits' }).fill('0');
    await shows(page, '#plan-warnings', 'advised');
    await shows(page, '#take-list', 'more');
    await shows(page, '#read-check', '✓');
    await shows(page, '#workers-said', 'held');
    await page.getByText('The last ten seconds as a table').click();
  };

  describe.each([
    ['light', 320],
    ['dark', 320],
    ['light', 1_280],
    ['dark', 1_280],
  ] as const)('in the %s theme, %d pixels wide', (colorScheme, width) => {
    it('axe finds nothing, empty, full or full of mistakes, and nothing is cut off', async () => {
      const page = await open({ colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' });
      expect(await violationsOf(page)).toEqual([]);
      await fill(page);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
      await page.getByLabel('ID', { exact: true }).fill('x');
      await page.getByLabel('How many').fill('0');
      await page.getByRole('slider', { name: 'Timestamp' }).fill('55');
      await page.getByLabel('API key').fill('');
      await page.getByRole('button', { name: 'Show workers' }).click();
      for (const problem of ['#read-problem', '#take-problem', '#plan-problem', '#workers-problem']) {
        await shows(page, problem, /./);
      }
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
      expect(opened!.complaints).toEqual([]);
    }, 60_000);
  });

  it('axe sees what there is to see: a grey text on grey', async () => {
    const page = await open();
    await page.evaluate(`document.querySelector('#read-title').style.color = '#999'`);
    expect(await violationsOf(page)).toEqual([expect.stringContaining('color-contrast')]);
  });

  it('works with the keyboard alone', async () => {
    const page = await open();
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('Tab');
    expect(await focused(page)).toBe('Skip to the ID reader');
    await press('Enter', 'Tab');
    expect(await focused(page)).toBe('read-id');
    await press('Tab', 'Tab');
    expect(await focused(page)).toBe('read-new');
    await press('Enter');
    await shows(page, '#read-aside', 'worker');
    await press('Tab');
    expect(await focused(page)).toBe('take-count');
    await press('Enter');
    await shows(page, '#take-list', 'and 996 more');
    await press('Tab', 'Tab', 'Tab', 'Enter');
    expect(await focused(page)).toBe('read-id');
    const order: string[] = [];
    for (let steps = 0; steps < 24; steps++) {
      await press('Tab');
      order.push(await focused(page));
    }
    const after = [
      'read-new',
      'take-count',
      'take-once',
      'plan-unit',
      'plan-time',
      'plan-worker',
      'plan-end',
      'plan-copy',
    ];
    expect(order.filter((each) => after.includes(each))).toEqual(after);
    await page.locator('#plan-time').focus();
    await press('ArrowRight');
    await shows(page, '#plan-figures', '544 years');
    await page.locator('#workers-key').focus();
    await page.keyboard.type(API_KEY);
    await press('Enter');
    await shows(page, '#workers-said', 'held');
  });

  it('shows where the focus is', async () => {
    const page = await open();
    for (let steps = 0; steps < 14; steps++) {
      await page.keyboard.press('Tab');
      const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
      expect([await focused(page), outline]).toEqual([expect.anything(), 'solid']);
    }
  });

  it('says nothing aloud while nothing happens, with IDs being taken and leases shrinking', async () => {
    const page = await open({ reducedMotion: 'reduce' });
    await fill(page);
    await page.getByRole('button', { name: 'Keep taking' }).click();
    await shows(page, '#take-said', 'Taking until you stop.');
    // What was typed before is told a moment later.
    await shows(page, '#plan-check', '✓');
    await page.evaluate(`
      globalThis.said = [];
      const watch = new MutationObserver((changes) => said.push(...changes.map(({ target }) => target.textContent)));
      for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]')) {
        watch.observe(region, { childList: true, characterData: true, subtree: true });
      }
    `);
    const before = await page.locator('#facts').textContent();
    await new Promise((done) => setTimeout(done, 3_000));
    expect(await page.locator('#facts').textContent()).not.toBe(before);
    expect(await page.evaluate('said')).toEqual([]);
  });

  it('moves no bar smoothly for who wants less motion', async () => {
    const durations = await Promise.all(
      (['reduce', 'no-preference'] as const).map(async (reducedMotion) => {
        const { page, close } = await openPage(browser, service.url, { reducedMotion });
        await fill(page);
        const duration = await page.evaluate<string>(
          `getComputedStyle(document.querySelector('.bar span')).transitionDuration`,
        );
        await close();
        return parseFloat(duration);
      }),
    );
    expect(durations[0]).toBe(0);
    expect(durations[1]).toBeGreaterThan(0);
  });

  it('follows the system, until a theme is chosen, which stays', async () => {
    const page = await open({ colorScheme: 'dark' });
    const ground = (): Promise<string> => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const button = page.getByRole('button', { name: 'Dark theme' });
    const dark = await ground();
    expect(await button.getAttribute('aria-pressed')).toBe('true');
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await ground();
    expect(light).not.toBe(dark);
    await eventually(async () => expect(await button.getAttribute('aria-pressed')).toBe('false'));
    await button.click();
    expect(await ground()).toBe(dark);
    await page.reload();
    expect(await ground()).toBe(dark);
    await eventually(async () => expect(await button.getAttribute('aria-pressed')).toBe('true'));
  });
});
