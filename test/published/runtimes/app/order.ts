import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, Entity } from 'typeorm';

@Entity()
export class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column()
  customer!: string;
}
