import { Column, Entity, JoinColumn, OneToOne, type Relation } from 'typeorm';
import { entityFamily } from './entity-family.js';
import type { Id } from './property-form.js';

export const lonelyEntities = entityFamily('lonely', ({ generated }) => {
  @Entity()
  class Note {
    @generated()
    id!: Id;

    @Column({ type: 'varchar', length: 50, nullable: true })
    title!: string | null;
  }
  return { Note };
});

/** A key that is a foreign key as well. */
export const sharedKeyEntities = entityFamily('shared key', ({ generated }) => {
  @Entity()
  class Owner {
    @generated()
    id!: Id;
  }

  @Entity()
  class Shared {
    @generated()
    id!: Id;

    @OneToOne(() => Owner)
    @JoinColumn({ name: 'id' })
    owner!: Relation<Owner>;
  }

  return { Owner, Shared };
});
