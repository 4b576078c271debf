/**
 * IDs from a service elsewhere, over HTTP or TCP.
 *
 * @module @raindrop/nestjs/remote
 */

export * from '@raindrop/node/remote';
export { remoteIdsTcp, type RemoteIdsTcpOptions } from './tcp/remote-ids-tcp.js';
