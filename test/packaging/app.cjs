/* The app of a user, run by check-app.mjs next to the installed tarballs: CommonJS, no TypeScript, no workspace. */
require('reflect-metadata');
const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { TypeOrmModule } = require('@nestjs/typeorm');
const { IdService, RaindropModule } = require('@raindrop/nestjs');

class AppModule {}
Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'app.sqlite' }),
    RaindropModule.forRoot({
      timeUnit: 'second',
      startTimeStamp: '2024-01-01',
      timeStampLength: 33,
      workIdLength: 10,
      endBitsLength: 1,
    }),
  ],
})(AppModule);

async function main() {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  console.log(`id ${await app.get(IdService).nextId()}`);
  await app.close();
  console.log('closed');
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
