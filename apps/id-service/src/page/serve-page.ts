import { existsSync } from 'node:fs';
import { join } from 'node:path';
import staticFiles from '@fastify/static';
import type { FastifyAdapter } from '@nestjs/platform-fastify';

/** Where `npm run build` makes it, seen from there and from the sources; unbuilt, it has no script. */
const FOLDERS = ['../public', '../../../../dist/apps/id-service/public', '../../public'].map((each) =>
  join(__dirname, each),
);

/** Stricter than that of Swagger's page: not even a style may stand in the document. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'",
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
].join('; ');

/**
 * The page at `/`. Its files are few and small: browsers ask each time whether they have changed (ETag), so a new version
 * is never mixed with an old one.
 */
export async function servePage(adapter: FastifyAdapter): Promise<void> {
  const root = FOLDERS.find((folder) => existsSync(join(folder, 'index.html')));
  if (root === undefined) throw new Error(`the page is in none of ${FOLDERS.join(', ')}: run npm run build`);
  await adapter.getInstance().register(staticFiles, {
    root,
    // A route for each file: everything else is Nest's.
    wildcard: false,
    decorateReply: false,
    // Beside each file lies what `build-page.mjs` has made of it.
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply) => {
      void reply.header('cache-control', 'no-cache');
      void reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
    },
  });
}
