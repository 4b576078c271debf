/** What a driver finds in place of better-sqlite3 with RAINDROP_TEST_SQLITE=node:sqlite: it fails as a missing package. */
throw Object.assign(new Error("Cannot find module 'better-sqlite3'"), { code: 'MODULE_NOT_FOUND' });
