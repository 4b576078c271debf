/**
 * What is done with two copies, a and b, of the packages. Started by the spec with the folders of the copies, a database
 * file, and the names of cases; prints their answers by these names, as JSON.
 */
import 'reflect-metadata';
import { Inject, Module } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, Entity } from 'typeorm';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

const [folderA, folderB, database, ...wanted] = process.argv.slice(2);
const requireA = createRequire(join(folderA, 'app.cjs'));
const requireB = createRequire(join(folderB, 'app.cjs'));
const layout = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
const noDatabase = { ...layout, workerIdAssigner: 'static', workerId: 3, restartWaitMs: false };
const module = { ...layout, dbConfig: { type: 'better-sqlite3', database }, checkShutdownHooks: false };

/** A class with an ID that a copy's decorator fills. */
function entityOf(copy) {
  class Order {}
  Entity()(Order);
  Reflect.defineMetadata('design:type', String, Order.prototype, 'id');
  copy.GeneratedSnowflake()(Order.prototype, 'id');
  return Order;
}

function sqliteModule(entities) {
  return TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true });
}

async function inApplication(imports, providers, work) {
  class App {}
  Module({ imports, providers })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

/** A provider that injects the default service by the class of a copy. */
function checkoutOf({ IdService }) {
  class Checkout {
    constructor(ids) {
      this.ids = ids;
    }
  }
  Inject(IdService)(Checkout, undefined, 0);
  return Checkout;
}

const cases = {
  async errors() {
    const [a, b] = [requireA('@raindrop/core'), requireB('@raindrop/core')];
    const error = new a.ClosedError();
    return {
      isError: error instanceof b.RaindropError && error instanceof b.ClosedError,
      isAnother: error instanceof b.ConfigurationError,
      isNone: new TypeError() instanceof b.RaindropError,
    };
  },

  async layout() {
    const given = requireA('@raindrop/core').createLayout(layout);
    const ids = await requireB('@raindrop/node').openIdService({ ...noDatabase, ...noBits, layout: given });
    const { fingerprint } = ids.layout;
    await ids.close();
    return { isSame: fingerprint === given.fingerprint };
  },

  async firstOf() {
    const workerIdAssigner = requireA('@raindrop/node').firstOf([{ use: 'static', workers: { min: 1, max: 9 } }]);
    const ids = await requireB('@raindrop/node').openIdService({ ...noDatabase, workerIdAssigner });
    const { workerId } = ids;
    await ids.close();
    return { workerId };
  },

  async createGenerator() {
    const [a, b] = [requireA('@raindrop/core'), requireB('@raindrop/core')];
    const [one, two] = [a.createGenerator(), b.createGenerator()];
    const ids = Array.from({ length: 1_000 }, (_, index) => (index % 2 ? one : two).nextId());
    return { different: new Set(ids).size };
  },

  async rows() {
    const services = [
      await requireA('@raindrop/node').openIdService({ ...layout, dbConfig: module.dbConfig }),
      await requireB('@raindrop/node').openIdService({ ...layout, dbConfig: module.dbConfig }),
    ];
    const workers = new Set(services.map(({ workerId }) => workerId)).size;
    await Promise.all(services.map((each) => each.close()));
    return { workers };
  },

  async injected() {
    // The module is registered before the other copy is loaded.
    const registered = requireB('@raindrop/nestjs').RaindropModule.forRoot(module);
    const Checkout = checkoutOf(requireA('@raindrop/nestjs'));
    return inApplication([registered], [Checkout], (app) => ({ id: app.get(Checkout).ids.nextString() }));
  },

  /** Of a provider that no constructor names. */
  async got() {
    const registered = requireB('@raindrop/nestjs').RaindropModule.forRoot(module);
    const { IdService } = requireA('@raindrop/nestjs');
    return inApplication([registered], [], (app) => ({ id: app.get(IdService).nextString() }));
  },

  /** As packages do that look for decorated methods. */
  async discovered() {
    const registered = requireB('@raindrop/nestjs').RaindropModule.forRoot(module);
    requireA('@raindrop/nestjs');
    return inApplication([registered], [], (app) => {
      const modules = [...app.get(ModulesContainer).values()];
      const providers = modules.flatMap((each) => [...each.providers.values()]);
      const shared = providers.filter((each) => each.isDependencyTreeStatic() && !each.isTransient);
      const found = shared.map(({ instance }) => instance).filter((each) => typeof each?.nextString === 'function');
      return { services: new Set(found).size };
    });
  },

  async named() {
    const registered = requireB('@raindrop/nestjs').RaindropModule.forRoot({ ...module, name: 'orders' });
    class Checkout {
      constructor(ids) {
        this.ids = ids;
      }
    }
    requireA('@raindrop/nestjs').InjectIdService('orders')(Checkout, undefined, 0);
    return inApplication([registered], [Checkout], (app) => ({ id: app.get(Checkout).ids.nextString() }));
  },

  async twoModules() {
    const imports = [requireA, requireB].map((load) => load('@raindrop/nestjs').RaindropModule.forRoot(module));
    return inApplication(imports, [], () => ({}));
  },

  async twoLocalModules() {
    const Order = entityOf(requireA('@raindrop/typeorm'));
    const options = { ...module, isGlobal: false };
    const imports = [requireA, requireB].map((load) => load('@raindrop/nestjs').RaindropModule.forRoot(options));
    return inApplication([sqliteModule([Order]), ...imports], [], () => ({}));
  },

  async entity() {
    const Order = entityOf(requireA('@raindrop/typeorm'));
    const imports = [sqliteModule([Order]), requireB('@raindrop/nestjs').RaindropModule.forRoot(module)];
    return inApplication(imports, [], async (app) => {
      const { manager } = app.get(DataSource);
      const { id } = await manager.save(new Order());
      const { SnowflakeBetween } = requireA('@raindrop/typeorm');
      const found = await manager.countBy(Order, { id: SnowflakeBetween(0, Date.now() + 60_000) });
      return { id, found };
    });
  },

  /** On SQLite, transactions of one DataSource take turns; TypeORM puts two at once into one another. */
  async transactions() {
    const dataSource = await new DataSource({ type: 'better-sqlite3', database }).initialize();
    const steps = [];
    const inTurn = (load, name) =>
      load('@raindrop/typeorm').transactionWithRetries(dataSource, async (manager) => {
        steps.push(`${name} begins`);
        for (let query = 0; query < 20; query++) await manager.query('SELECT 1');
        steps.push(`${name} ends`);
      });
    await Promise.all([inTurn(requireA, 'a'), inTurn(requireB, 'b')]);
    await dataSource.destroy();
    return steps;
  },

  async esm() {
    const imported = await import(pathToFileURL(join(folderA, 'app.mjs')).href);
    const ids = await imported.node.openIdService(noDatabase);
    await ids.close();
    return { isSame: imported.nestjs.IdService === requireA('@raindrop/nestjs').IdService };
  },

  async thread() {
    requireA('@raindrop/node');
    const code = `
      const { openIdService } = require('node:module').createRequire(${JSON.stringify(join(folderB, 'app.cjs'))})('@raindrop/node');
      openIdService(${JSON.stringify(noDatabase)}).then((ids) => ids.close());
    `;
    await new Promise((resolve, reject) => new Worker(code, { eval: true }).on('exit', resolve).on('error', reject));
    return {};
  },
};

/** Takes the bits out of options, for a ready layout. */
const noBits = Object.fromEntries(Object.keys(layout).map((name) => [name, undefined]));

const answers = {};
for (const name of wanted) {
  answers[name] = await cases[name]().catch(({ errorCode, message }) => ({ error: errorCode, message }));
}
console.log(JSON.stringify(answers));
