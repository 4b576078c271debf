const base = require('./jest.base.cjs');

/** Pure tests only: no database, no process, no sleep. */
module.exports = { ...base, testRegex: '\\.spec\\.ts$' };
