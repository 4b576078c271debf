import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateOrders1767225600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE "orders" ("id" bigint PRIMARY KEY NOT NULL, "customer" varchar(100) NOT NULL)`);
    await runner.query(`CREATE TABLE "order_items" ("id" bigint PRIMARY KEY NOT NULL, "sku" varchar(64) NOT NULL,
      "quantity" integer NOT NULL, "orderId" bigint NOT NULL,
      CONSTRAINT "order_items_order" FOREIGN KEY ("orderId") REFERENCES "orders" ("id") ON DELETE CASCADE)`);
    await runner.query(`CREATE INDEX "order_items_order_id" ON "order_items" ("orderId")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "order_items"`);
    await runner.query(`DROP TABLE "orders"`);
  }
}
