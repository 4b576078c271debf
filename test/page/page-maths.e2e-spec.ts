import {
  ConfigurationError,
  createLayout,
  parseId,
  planLayout,
  presets,
  TIME_UNITS,
  type Layout,
  type LayoutOptions,
  type LayoutPlan,
} from '@raindrop/core';
import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { openChromium } from './chromium.js';
import { openPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const units = Object.keys(TIME_UNITS) as (keyof typeof TIME_UNITS)[];

const unit = fc.double({ min: 0, max: 1, noNaN: true });

const anyOptions = fc
  .record({
    timeUnit: fc.constantFrom(...units),
    startTimeStamp: fc.date({ min: new Date('1990-01-01'), max: new Date(NOW), noInvalidDate: true }),
    workIdLength: fc.integer({ min: 3, max: 10 }),
    endBitsLength: fc.integer({ min: 0, max: 5 }),
    end: unit,
    range: fc.option(fc.tuple(unit, unit), { nil: undefined }),
    share: unit,
  })
  .map(({ share, startTimeStamp, end, range, ...options }) => {
    const { minTimestampBits: min, maxTimestampBits: max } = TIME_UNITS[options.timeUnit];
    const timeStampLength = min + Math.round(share * (max - min));
    // Some epochs in the middle of a tick.
    return {
      ...options,
      // Some do not fit.
      endBitsValue: Math.floor(end * (2 ** options.endBitsLength + 0.1)),
      ...(range !== undefined && workersOf(range, options.workIdLength)),
      startTimeStamp: startTimeStamp.toISOString(),
      timeStampLength,
      minLifetimeDays: 0,
    };
  });

/** A part of the worker ids; some begin after their end. */
function workersOf([a, b]: readonly [number, number], bits: number): object {
  const [low, high] = [a * b, b].map((each) => Math.floor(each * 2 ** bits));
  const [serviceMinWorkId, serviceMaxWorkId] = a > 0.9 ? [high, low] : [low, high];
  return { serviceMinWorkId, serviceMaxWorkId };
}

describe('What the page computes itself', () => {
  let browser: Browser;
  let service: PageService;
  let page: Page;

  beforeAll(async () => {
    [browser, service] = await Promise.all([openChromium(), startService({})]);
    ({ page } = await openPage(browser, service.url));
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  /** What a module of the page makes of each value, there. It is sent as a text: a test's own code is compiled for Node. */
  const inPage = <T>(module: string, each: string, values: unknown): Promise<T> =>
    page.evaluate<T>(`import('/scripts/${module}').then((module) => ${JSON.stringify(values)}.map(${each}))`);

  it('is the plan of the service, for any options', async () => {
    const options = fc.sample(anyOptions, 500);
    const planned = await inPage<Record<string, unknown>[]>(
      'layout-maths.js',
      `each => module.planLayout(each, ${NOW})`,
      options,
    );
    let plans = 0;
    options.forEach((each, index) => {
      const theirs = planned[index]!;
      const ours = serverPlan(each);
      if (ours === undefined) return expect(theirs['problem']).toMatch(/^[A-Z].*\.$/);
      expect(theirs['problem']).toBeUndefined();
      plans++;
      const { fields, ...figures } = theirs;
      expect(ours).toMatchObject(figures);
      expect((fields as object[]).length).toBe(ours.fields.length);
      expect(ours.fields).toMatchObject(fields as object[]);
    });
    expect(plans).toBeGreaterThan(100);
    expect(plans).toBeLessThan(options.length);
  });

  it('is the parts of any ID, under any layout', async () => {
    const layouts = [
      ...[presets.twitter(), presets.westid(), presets.uidGenerator(), presets.uidGeneratorGlobal({ datacenterId: 3 })],
      ...[presets.keyWorker(), presets.discord(), presets.instagram(), presets.sonyflake(), presets.tsid()],
      ...fc.sample(anyOptions, 300).flatMap((options) => (serverPlan(options) ? [createLayout(options, NOW)] : [])),
    ];
    const cases = layouts.flatMap((layout) =>
      fc.sample(fc.bigInt({ min: 0n, max: 2n ** BigInt(layout.bits) - 1n }), 5).map((id) => ({ layout, id })),
    );
    const read = await inPage<{ time: Date | null }[]>(
      'id-parts.js',
      'each => module.idParts(each.plan, BigInt(each.id))',
      cases.map(({ layout, id }) => ({ plan: planOf(layout), id: String(id) })),
    );
    cases.forEach(({ layout, id }, index) => {
      let ours;
      try {
        ours = parseId(layout, id);
      } catch {
        expect(read[index]).toMatchObject({ time: null });
        return;
      }
      expect({ ...read[index], id }).toEqual(ours);
    });
    expect(cases.length).toBeGreaterThan(1_000);
  });
});

/** What of a plan says how IDs are read. */
function planOf({ fields, unitMs, epochMs }: Layout): Pick<LayoutPlan, 'unitMs' | 'epoch'> & { fields: unknown } {
  return { fields, unitMs, epoch: new Date(epochMs).toISOString() };
}

/** Undefined for options that leave no sequence bit. */
function serverPlan(options: LayoutOptions): LayoutPlan | undefined {
  try {
    return planLayout(options, NOW);
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined;
    throw error;
  }
}
