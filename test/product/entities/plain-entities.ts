import {
  BaseEntity,
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  EntitySchema,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
} from 'typeorm';
import { entityFamily } from './entity-family.js';
import type { Id } from './property-form.js';

interface Label {
  id: Id;
  text: string;
}

/** Every kind of key there is without a relation. */
export const plainEntities = entityFamily('plain', ({ generated, schemaColumn }) => {
  abstract class Titled extends BaseEntity {
    @generated()
    id!: Id;

    @Column({ type: 'varchar', length: 50, nullable: true })
    title!: string | null;
  }

  @Entity()
  class Note extends Titled {}

  @Entity()
  class Draft extends Titled {
    @DeleteDateColumn()
    deletedAt!: Date | null;
  }

  @Entity()
  class Tag {
    @generated()
    id!: Id;

    @Column({ type: 'varchar', length: 50, unique: true })
    name!: string;

    @Column({ type: 'int' })
    uses!: number;
  }

  const Label = new EntitySchema<Label>({
    name: 'label',
    columns: { id: schemaColumn(), text: { type: 'varchar', length: 50 } },
  });

  @Entity()
  class InvoiceLine {
    @PrimaryColumn({ type: 'int' })
    invoice!: number;

    @generated({ name: 'line_id' })
    line!: Id;
  }

  @Entity()
  class Pair {
    @generated()
    first!: Id;

    @generated({ code: 'second' })
    second!: Id;
  }

  /** A text column of the same name as the generated ones. */
  @Entity()
  class Currency {
    @PrimaryColumn({ type: 'varchar', length: 20 })
    id!: string;
  }

  class Key {
    @generated()
    id!: Id;
  }

  @Entity()
  class Parcel {
    @Column(() => Key)
    key!: Key;
  }

  class Reference {
    @generated({ primary: false })
    number!: Id;
  }

  @Entity()
  class Shipment {
    @generated()
    id!: Id;

    @Column(() => Reference)
    reference!: Reference;
  }

  @Entity()
  class Ticket {
    @PrimaryGeneratedColumn()
    id!: number;

    @generated({ primary: false, unique: true })
    number!: Id;
  }

  @Entity()
  @TableInheritance({ column: { type: 'varchar', length: 20, name: 'kind' } })
  class Payment {
    @generated()
    id!: Id;
  }

  @ChildEntity()
  class CardPayment extends Payment {
    // Rows of the siblings are in the same table.
    @generated({ primary: false, databaseDefault: false })
    authorisation!: Id;
  }

  @ChildEntity()
  class CashPayment extends Payment {
    @Column({ type: 'int', nullable: true })
    change!: number;
  }

  return {
    Note,
    Draft,
    Tag,
    Label,
    InvoiceLine,
    Pair,
    Currency,
    Parcel,
    Shipment,
    Ticket,
    Payment,
    CardPayment,
    CashPayment,
  };
});
