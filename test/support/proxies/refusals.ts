import { fatal, insteadOfGreeting, insteadOfWelcome, type SayNo } from './refusal-packets.js';

/** One way in which a server refuses connections. */
export interface Refusal {
  readonly title: string;
  /** As the driver names it. */
  readonly driverCode: string;
  readonly sayNo: SayNo;
}

const MYSQL: readonly Refusal[] = [
  {
    title: '1040, too many connections',
    driverCode: 'ER_CON_COUNT_ERROR',
    sayNo: insteadOfGreeting(1040, 'Too many connections'),
  },
  {
    title: '1129, a host that is blocked',
    driverCode: 'ER_HOST_IS_BLOCKED',
    sayNo: insteadOfGreeting(1129, "Host '10.0.0.7' is blocked because of many connection errors"),
  },
  {
    title: '1045, a wrong password',
    driverCode: 'ER_ACCESS_DENIED_ERROR',
    sayNo: insteadOfWelcome(1045, '28000', "Access denied for user 'shop'"),
  },
  {
    title: '1049, no such database',
    driverCode: 'ER_BAD_DB_ERROR',
    sayNo: insteadOfWelcome(1049, '42000', "Unknown database 'shop'"),
  },
  {
    title: '1203, too many connections of an account',
    driverCode: 'ER_TOO_MANY_USER_CONNECTIONS',
    sayNo: insteadOfWelcome(1203, '42000', "User shop already has more than 'max_user_connections'"),
  },
];

const POSTGRES: readonly Refusal[] = [
  { title: '53300, too many connections', driverCode: '53300', sayNo: fatal('53300', 'too many clients already') },
  { title: '57P03, a server that starts', driverCode: '57P03', sayNo: fatal('57P03', 'the database is starting up') },
  { title: '28P01, a wrong password', driverCode: '28P01', sayNo: fatal('28P01', 'password authentication failed') },
  { title: '3D000, no such database', driverCode: '3D000', sayNo: fatal('3D000', 'database "shop" does not exist') },
];

/** What each kind of server may answer to somebody who connects. */
export function refusalsOf(kind: string): readonly Refusal[] {
  return kind === 'postgres' ? POSTGRES : MYSQL;
}
