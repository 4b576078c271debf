/**
 * IDs for the processes of a cluster, from one worker id that the primary holds.
 *
 * @module @raindrop/node/cluster
 */

export { clusterPrimary, type ClusterPrimaryOptions, PrimaryGoneError } from './cluster-primary.js';
export { ClusterIdBroker, type BrokeredIds } from './cluster-id-broker.js';
