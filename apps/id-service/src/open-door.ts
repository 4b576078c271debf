import type { ServiceConfig } from './service-config.js';

/** What is to be said of a service that everybody on its networks can use; undefined where nobody is let in unasked. */
export function openDoorWarning({ host, apiKeysFor }: Pick<ServiceConfig, 'host' | 'apiKeysFor'>): string | undefined {
  if (apiKeysFor === 'all' || (host !== '0.0.0.0' && !/^[0:]+$/.test(host))) return undefined;
  return (
    `HOST=${host}: the service listens on every network of this host, and everybody there may issue IDs. ` +
    'API_KEYS with API_KEYS_FOR=all asks for a key; a NetworkPolicy or a firewall keeps others out.'
  );
}
