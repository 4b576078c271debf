/**
 * Where a name comes from that a block uses without an import line, as the text around the block or an editor says. A
 * block in which a name is missing here does not compile.
 */
export const IMPORTED_NAMES: Readonly<Record<string, readonly string[]>> = {
  '@nestjs/common': [
    ...['Body', 'Controller', 'Get', 'Inject', 'Injectable', 'Module', 'NotFoundException', 'Param', 'Post', 'Query'],
    'UseInterceptors',
  ],
  '@nestjs/core': ['APP_INTERCEPTOR', 'NestFactory'],
  '@nestjs/terminus': ['HealthCheckService', 'TerminusModule'],
  '@nestjs/testing': ['Test'],
  '@nestjs/typeorm': ['InjectRepository', 'TypeOrmModule', 'getRepositoryToken'],
  '@raindrop/core': ['SequenceExhaustedError', 'TypedId', 'compareIds', 'typedId'],
  '@raindrop/nestjs': [
    ...[
      'BigIntInterceptor',
      'IdService',
      'LeaseLostError',
      'LeaseSuspectError',
      'InjectIdService',
      'ParseIdPipe',
      'RaindropModule',
      'SegmentModuleOptions',
    ],
    ...['SnowflakeModuleOptions', 'businessNumberTableSql', 'getIdServiceToken'],
  ],
  '@raindrop/nestjs/class-validator': ['IsSnowflake'],
  '@raindrop/nestjs/opentelemetry': ['RAINDROP_METRICS_OPTIONS', 'RaindropMetrics'],
  '@raindrop/nestjs/swagger': ['ApiSnowflake', 'ApiSnowflakeParam', 'ApiSnowflakeQuery'],
  '@raindrop/nestjs/terminus': ['RaindropHealthIndicator'],
  '@raindrop/nestjs/testing': ['RaindropTestbed', 'RaindropTestingModule', 'createTestIdService'],
  '@raindrop/nestjs/threads': ['SharedIdRing', 'SharedIds'],
  '@raindrop/nestjs/typeorm': [
    ...['GeneratedSnowflake', 'SnowflakeBetween', 'businessNumber', 'businessNumberTableMigration'],
    ...['prepareBusinessNumbers', 'snowflakeColumn', 'transactionWithRetries'],
  ],
  'class-validator': ['IsOptional'],
  typeorm: ['And', 'Column', 'DataSource', 'Entity', 'EntitySchema', 'LessThan', 'MoreThan', 'Repository'],
};
