import { Sequencer } from './sequencer.js';

/** A read looks at so many codes at most: about 0.1 ms, where a million at once would take 30. */
const MAX_LOOKS = 10_000;

/**
 * The IDs issued by all sequencers of a table. Issuing adds nothing to it: sequencers count themselves, and a read takes
 * in what they have issued since it last looked at them.
 *
 * With 10,000 codes or more a read looks at the next 10,000 and may leave out what the others have issued since their
 * last turn; {@link reads} of them in a row leave out nothing that was issued before the first. No read counts an ID
 * twice or goes back, whichever codes come and go.
 */
export class IssuedTotal {
  private readonly sequencers: Sequencer[] = [];
  private issued = 0;
  private next = 0;

  /** How many reads it takes to look at every code once. */
  get reads(): number {
    return Math.ceil(this.sequencers.length / MAX_LOOKS);
  }

  /** Makes a sequencer, in the place of one that issues no more. */
  begin(evicted?: Sequencer): Sequencer {
    if (evicted !== undefined) this.take(evicted);
    const fresh = new Sequencer(evicted?.slot ?? this.sequencers.length);
    this.sequencers[fresh.slot] = fresh;
    return fresh;
  }

  /** Takes in what one sequencer has issued; answers with all of that. */
  take(s: Sequencer): number {
    this.issued += s.takeUncounted();
    return s.issued;
  }

  read(): number {
    for (let looks = Math.min(this.sequencers.length, MAX_LOOKS); looks > 0; looks--) {
      if (this.next >= this.sequencers.length) this.next = 0;
      this.take(this.sequencers[this.next++]!);
    }
    return this.issued;
  }
}
