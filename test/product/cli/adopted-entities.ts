import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, Entity, Index, ManyToOne, OneToMany, PrimaryGeneratedColumn, Relation } from 'typeorm';

/** As they were: the database counts. */
@Entity('orders')
export class OldOrder {
  @PrimaryGeneratedColumn({ comment: "the customer's number" })
  id!: number;

  @Index()
  @Column()
  title!: string;

  @ManyToOne(() => OldOrder, { nullable: true })
  previous?: Relation<OldOrder> | null;

  @OneToMany(() => OldLine, (line) => line.order, { cascade: true })
  lines!: OldLine[];
}

@Entity('order_lines')
export class OldLine {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => OldOrder, (order) => order.lines, { nullable: false, onDelete: 'CASCADE' })
  order!: Relation<OldOrder>;
}

/** As they are: Raindrop issues the orders' keys, the lines still count. */
@Entity('orders')
export class NewOrder {
  @GeneratedSnowflake({ comment: "the customer's number" })
  id!: string;

  @Index()
  @Column()
  title!: string;

  @ManyToOne(() => NewOrder, { nullable: true })
  previous?: Relation<NewOrder> | null;

  @OneToMany(() => NewLine, (line) => line.order, { cascade: true })
  lines!: NewLine[];
}

@Entity('order_lines')
export class NewLine {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => NewOrder, (order) => order.lines, { nullable: false, onDelete: 'CASCADE' })
  order!: Relation<NewOrder>;
}
