import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A page in a window of its own, and what a browser's developer tools would have shown of it. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors and warnings of the console, failures of scripts, and what the content security policy forbade. */
  readonly complaints: readonly string[];
  /** The origins that were asked. */
  readonly origins: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Opens the page of a service and waits until it has spoken with it. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  await page.goto(url);
  await page.getByText('Ready', { exact: true }).waitFor();
  return { page, complaints, origins, close: () => context.close() };
}
