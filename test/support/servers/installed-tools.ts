import { existsSync, readdirSync } from 'node:fs';
import { AptInstall } from './apt-install';
import { GALERA_LIBRARY } from './galera-cluster';
import { hasProgram } from './install-programs';
import { fetchNats, hasNats } from './nats-program';

interface Tool {
  readonly isHere: () => boolean;
  /** Needed by `npm run test:all` alone. */
  readonly isOfSlowTests: boolean;
  /** Default: the package. */
  readonly install?: (apt: AptInstall) => Promise<void>;
}

/** What tests need beside the servers, by the name of Debian's package. */
const tools: Readonly<Record<string, Tool>> = {
  /** Documents show it, and tests run what they show. */
  curl: { isHere: () => hasProgram('curl'), isOfSlowTests: false },
  /** Keeps worker ids, and copies what it keeps. */
  'etcd-server': { isHere: () => hasProgram('etcd'), isOfSlowTests: true },
  'etcd-client': { isHere: () => hasProgram('etcdctl'), isOfSlowTests: true },
  /** Draws the page. */
  chromium: {
    isHere: () => Boolean(process.env['CHROMIUM']) || hasProgram('chromium') || hasProgram('google-chrome'),
    isOfSlowTests: true,
  },
  /** Steps the clocks of real processes. */
  faketime: { isHere: hasFaketime, isOfSlowTests: true },
  /** Makes a cluster of MariaDBs, and what copies one to the other. */
  'galera-4': { isHere: () => existsSync(GALERA_LIBRARY), isOfSlowTests: true },
  /** Keeps worker ids. */
  'nats-server': { isHere: hasNats, isOfSlowTests: true, install: fetchNats },
  rsync: { isHere: () => hasProgram('rsync'), isOfSlowTests: true },
};

/**
 * Installs what is missing and can be had. What cannot be had is not told here: the tests that need it are left out, and
 * say why.
 */
export async function installTools(apt: AptInstall): Promise<void> {
  const isFull = process.env['RAINDROP_TEST_TIER'] === 'all';
  const missing = Object.keys(tools).filter(
    (name) => (isFull || !tools[name]!.isOfSlowTests) && !tools[name]!.isHere(),
  );
  await Promise.allSettled(missing.map((name) => tools[name]!.install?.(apt) ?? apt.install(name)));
}

function hasFaketime(): boolean {
  const library = 'faketime/libfaketimeMT.so.1';
  return (
    existsSync('/usr/lib') && readdirSync('/usr/lib').some((folder) => existsSync(`/usr/lib/${folder}/${library}`))
  );
}
