import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServiceProcess } from '../service/service-process.js';

/** The service with its page, and with a database of its own. */
export interface PageService {
  readonly url: string;
  /** Where its database lies. */
  readonly folder: string;
  /** Safe to call twice. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface PageServiceOptions {
  /** Default: any free one. */
  readonly port?: number;
  /** Without one the worker table is off. */
  readonly apiKey?: string;
  /** Default: the service's own. */
  readonly leaseMs?: number;
  /** Default: it keeps no history of its worker ids. */
  readonly historyDays?: number;
  /** Another service's, to share its database. */
  readonly folder?: string;
  /** Another name of this host. */
  readonly allowedHosts?: string;
}

export async function startService(options: PageServiceOptions): Promise<PageService> {
  const { port, apiKey, leaseMs, historyDays, folder, allowedHosts } = options;
  const cwd = folder ?? (await mkdtemp(join(tmpdir(), 'raindrop-page-')));
  const service = await startServiceProcess({
    cwd,
    environment: {
      PORT: String(port ?? 0),
      API_KEYS: apiKey ?? '',
      // The pages of most tests get IDs without a key.
      API_KEYS_FOR: 'workers',
      ALLOWED_HOSTS: allowedHosts ?? '',
      WORKER_HISTORY_DAYS: String(historyDays ?? 0),
      RAINDROP_LEASE_MS: leaseMs === undefined ? '' : String(leaseMs),
    },
  });
  return {
    url: service.url,
    folder: cwd,
    stop: async (signal) => {
      await service.stop(signal);
      if (folder === undefined) await rm(cwd, { recursive: true, force: true });
    },
  };
}
