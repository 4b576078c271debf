import { databaseOf } from './application-database.js';

it('a service without a database names the option, an unset variable and TypeORM', () => {
  expect(() => databaseOf({ dbConfig: undefined, allowVolatile: false }, undefined)).toThrow(
    /dbConfig = undefined: is required: .*postgres:\/\/.*environment variable.* not set\. In Nest with TypeORM, import TypeOrmModule/,
  );
});
