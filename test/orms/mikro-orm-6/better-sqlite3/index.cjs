const { join } = require('node:path');

// Linked or copied into node_modules, the workspace is above.
module.exports = require(require.resolve('better-sqlite3', { paths: [join(__dirname, '../../../..')] }));
