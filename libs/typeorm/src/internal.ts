/**
 * The parts of this package for the other Raindrop packages. Not for applications: names change without notice.
 *
 * @module @raindrop/typeorm/internal
 */

export { dataSourceDatabase } from './connection/data-source-database.js';
export { attachedTo } from './generated-snowflake/attach-snowflakes.js';
export { AttachedSnowflakes } from './generated-snowflake/attached-snowflakes.js';
export { report } from './generated-snowflake/entity-lint.js';
export { lintUnnamed, refuseColumns } from './generated-snowflake/lint-columns.js';
export { lookAtColumns } from './generated-snowflake/real-columns.js';
export type { SnowflakeSource } from './generated-snowflake/generated-column.js';
