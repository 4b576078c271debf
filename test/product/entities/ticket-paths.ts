import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { entityFamily } from './entity-family.js';
import { pathsOf, rows } from './entity-path.js';
import type { Id } from './property-form.js';

const ticketEntities = entityFamily('tickets', ({ generated }) => {
  abstract class Numbered {
    @PrimaryGeneratedColumn()
    id!: number;

    @generated({ primary: false, unique: true })
    number!: Id;

    @Column({ type: 'varchar', length: 50, nullable: true })
    title!: string | null;
  }

  // Another family has tickets as well, with a generator of its own: the same number could come to one table from both.
  @Entity('answered_ticket')
  class Ticket extends Numbered {
    @OneToMany(() => Answer, (answer) => answer.ticket, { cascade: true })
    answers!: Relation<Answer>[];
  }

  @Entity()
  class Answer extends Numbered {
    @ManyToOne(() => Ticket, (ticket) => ticket.answers)
    ticket!: Relation<Ticket>;
  }

  return { Ticket, Answer };
});

/** Generated columns of entities that have relations by other keys. */
export const ticketPaths = pathsOf(ticketEntities, {
  'columns beside auto-increment keys that have relations': async ({ manager, statements, entities }) => {
    const { Answer, Ticket } = entities;
    const ticket = await statements.only(() =>
      manager.save(manager.create(Ticket, { answers: [{ title: 'a' }, { title: 'b' }] })),
    );
    const { number, answers } = ticket;
    const find = () => manager.findOneOrFail(Ticket, { where: { number }, relations: { answers: true } });
    const found = await find();
    expect(new Set(found.answers.map((each) => each.number))).toEqual(new Set(answers.map((each) => each.number)));
    const added = manager.create(Answer, { title: 'c' });
    found.title = 'changed';
    found.answers.push(added);
    await manager.save(found);
    expect(await find()).toMatchObject({ title: 'changed', number });
    await manager.remove(await manager.findOneByOrFail(Answer, { ticket: { number }, number: answers[0]!.number }));
    return [rows(Ticket, [ticket], 'number'), rows(Answer, [answers[1]!, added], 'number')];
  },
});
