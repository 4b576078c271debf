import { EtcdEngine } from './etcd-engine.js';
import { GaleraEngine } from './galera-engine.js';
import { startHaproxy } from './haproxy.js';
import type { Leg } from './leg.js';
import { NatsEngine } from './nats-engine.js';
import { PairEngine } from './pair-engine.js';
import { PatroniEngine } from './patroni-engine.js';
import { startPgbouncer } from './pgbouncer.js';
import { RedisEngine } from './redis-engine.js';
import { startCluster, startSentinel } from './redis-servers.js';
import { RestoreEngine } from './restore-engine.js';

const MARIADB = { mariadbd: 'mariadb-server' };
const GALERA = { ...MARIADB, rsync: 'rsync' };
const POSTGRES = { psql: 'postgresql' };
const PATRONI = { ...POSTGRES, patroni: 'patroni', etcd: 'etcd-server' };
const REDIS = { ...MARIADB, 'redis-server': 'redis-server' };

/** Every engine that `npm run chaos -- --engine NAME` knows. */
export const LEGS: Readonly<Record<string, Leg>> = {
  galera: {
    family: 'Galera',
    topology: 'three writable nodes, rsync SST; each half of the processes uses one node and moves on',
    omission: 'original',
    losesCommits: false,
    settings: 'none',
    notCovered: 'a split cluster without a majority; all nodes ended at once',
    packages: GALERA,
    start: () => GaleraEngine.start(),
  },
  'patroni-async': {
    family: 'PostgreSQL',
    topology: 'three nodes under Patroni and etcd, asynchronous; sessions end when their node stops being the primary',
    omission: 'terms',
    losesCommits: true,
    settings: 'none',
    notCovered: 'a failover that takes longer than a lease; several etcd nodes',
    packages: PATRONI,
    start: () => PatroniEngine.start(false),
  },
  'patroni-sync': {
    family: 'PostgreSQL',
    topology: 'the same with `synchronous_mode_strict`',
    omission: 'original',
    losesCommits: false,
    settings: '`synchronous_mode_strict: true`',
    notCovered: 'a failover that takes longer than a lease; several etcd nodes',
    packages: PATRONI,
    start: () => PatroniEngine.start(true),
  },
  haproxy: {
    family: 'PostgreSQL',
    topology: 'as patroni-async, behind HAProxy',
    omission: 'original',
    losesCommits: true,
    settings: '`on-marked-down shutdown-sessions`',
    notCovered: 'a failure of HAProxy itself',
    packages: { ...PATRONI, haproxy: 'haproxy' },
    start: () => PatroniEngine.start(false, startHaproxy),
  },
  pgbouncer: {
    family: 'PostgreSQL',
    topology: 'primary and asynchronous standby; half of the processes by transaction mode, half by session mode',
    omission: 'terms',
    losesCommits: true,
    settings: '`server_lifetime` below the session age in the warning of the start',
    notCovered: 'statement mode',
    packages: { ...POSTGRES, pgbouncer: 'pgbouncer' },
    start: () => PairEngine.start('postgres', ['failover', 'restart'], startPgbouncer),
  },
  switchover: {
    family: 'PostgreSQL',
    topology: 'primary and asynchronous standby; planned: writes stop until the standby has everything',
    omission: 'original',
    losesCommits: false,
    settings: 'none',
    notCovered: 'a planned switchover that does not wait for the standby',
    packages: POSTGRES,
    start: () => PairEngine.start('postgres', ['switchover']),
  },
  'old-primary': {
    family: 'PostgreSQL',
    topology: 'the standby is promoted; the old primary stays alive and keeps its sessions',
    omission: 'terms',
    losesCommits: true,
    settings: 'none',
    notCovered: 'a proxy that sends new sessions to an old primary',
    packages: POSTGRES,
    start: () => PairEngine.start('postgres', ['oldPrimary']),
  },
  'old-primary-mysql': {
    family: 'MariaDB',
    topology: 'the same with a replica by GTID',
    omission: 'terms',
    losesCommits: true,
    settings: 'a different `server_id` for each server',
    notCovered: 'a proxy that sends new sessions to an old primary',
    packages: MARIADB,
    start: () => PairEngine.start('mariadb', ['oldPrimary']),
  },
  'mysql-replica': {
    family: 'MariaDB',
    topology: 'primary and asynchronous replica, read_only, GTID',
    omission: 'terms',
    losesCommits: true,
    settings: 'a different `server_id` for each server (the run uses two in turns); `sync_binlog=1`',
    notCovered: 'semi-synchronous replication',
    packages: MARIADB,
    start: () => PairEngine.start('mariadb', ['failover', 'restart', 'switchover']),
  },
  restore: {
    family: 'MariaDB',
    topology: 'one server whose files are restored to an earlier point while processes run',
    omission: 'fence',
    losesCommits: true,
    settings: '`raindrop fence`, and a raised `max_id`, before a process reaches it',
    notCovered: 'a restore without a fence',
    packages: MARIADB,
    start: (isControl) => RestoreEngine.start(!isControl),
  },
  etcd: {
    family: 'etcd',
    topology: 'three members on separate networks; numbers in MariaDB',
    omission: 'terms',
    losesCommits: false,
    settings: 'another `--initial-cluster-token` after a restore from a snapshot',
    notCovered: 'a snapshot restored with the old token and without a fence',
    packages: { ...MARIADB, etcd: 'etcd-server', etcdctl: 'etcd-client' },
    start: () => EtcdEngine.start(),
  },
  nats: {
    family: 'NATS',
    topology: 'three servers on separate networks, a bucket with three replicas; numbers in MariaDB',
    omission: 'terms',
    losesCommits: false,
    settings: '`sync_interval: always` against a power cut',
    notCovered: 'a power cut; a restore without a fence while no process runs',
    packages: MARIADB,
    start: () => NatsEngine.start(),
  },
  sentinel: {
    family: 'Redis',
    topology: 'master, two replicas, three Sentinels, nothing on disk; numbers in MariaDB',
    omission: 'memory',
    losesCommits: false,
    settings: 'none',
    notCovered: 'a master that stays alive next to its successor',
    packages: REDIS,
    start: () => RedisEngine.start(startSentinel),
  },
  'redis-cluster': {
    family: 'Redis',
    topology: 'three masters with a replica each, nothing on disk; numbers in MariaDB',
    omission: 'memory',
    losesCommits: false,
    settings: 'none',
    notCovered: 'slots that move; a master that stays alive next to its successor',
    packages: REDIS,
    start: () => RedisEngine.start(startCluster),
  },
};
