import { mysqlDialect } from './mysql-dialect.js';

it('a session of MySQL reads all rows, whatever limit the server sets', () => {
  expect(mysqlDialect('+00:00').session(1).join()).toContain('sql_select_limit = 18446744073709551615');
});
