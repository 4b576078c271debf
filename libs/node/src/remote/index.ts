/**
 * IDs of another ID service, over HTTP.
 *
 * @module @raindrop/node/remote
 */

export { remoteIds, remoteIdsHeaders, type RemoteIdsOptions } from './remote-ids.js';
export type { RemoteClient, RemoteFetchOptions, RemoteIdSource } from './remote-id-source.js';
export {
  InvalidRemoteAnswerError,
  RemoteIdsRefusedError,
  RemoteLayoutError,
  StaleRemoteAnswerError,
  type RemoteRefusal,
} from './remote-errors.js';
