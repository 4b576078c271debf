/**
 * IDs of another ID service, over HTTP.
 *
 * @module @raindrop/node/remote
 */

export { remoteIds, type RemoteIdsOptions } from './http/remote-ids.js';
export { remoteIdsHeaders } from './http/http-transport.js';
export type { RemoteClient, RemoteFetchOptions, RemoteIdSource } from './remote-id-source.js';
export {
  InvalidRemoteAnswerError,
  RemoteIdsRefusedError,
  RemoteLayoutError,
  StaleRemoteAnswerError,
  type RemoteRefusal,
} from './remote-errors.js';
